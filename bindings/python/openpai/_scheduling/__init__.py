"""Schedulers, policies, traces, simulations, forecasts, replays."""
