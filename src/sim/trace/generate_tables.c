/*
 * generate_tables.c - published statistics of two clusters
 *
 * docs/guide/traces.md names the source of each number, and the numbers that
 * were read from figures.
 */
#include "sim/trace/generate.h"

/* Philly: Jeon et al., "Analysis of Large-Scale Multi-Tenant GPU Clusters for
 * DNN Training Workloads", ATC 2019. */
static const pai__quantile philly_quantiles[] = {
  { 0, 1 },           { 30, 9 },        { 400, 44 },      { 800, 90 },
  { 2600, 186 },      { 5600, 1554 },   { 8240, 5523 },   { 9000, 45000 },
  { 9500, 130000 },   { 9800, 300000 }, { 9957, 558000 }, { 9990, 1500000 },
  { 10000, 4628000 },
};
static const pai__size_class philly_sizes[] = {
  { 1, 7900, 12 }, { 2, 750, 24 }, { 4, 750, 24 }, { 8, 500, 40 },
  { 16, 70, 80 },  { 32, 20, 80 }, { 64, 8, 80 },  { 128, 2, 80 },
};
static const pai__end_class philly_ends[] = {
  { 5000, 80, 172 },
  { 9000, 150, 172 },
  { 10000, 350, 172 },
};

/* Helios: Hu et al., "Characterization and Prediction of Deep Learning
 * Workloads in Large-Scale GPU Datacenters", SC 2021. */
static const pai__quantile helios_quantiles[] = {
  { 0, 1 },         { 1000, 10 },      { 2500, 40 },       { 5000, 206 },
  { 7500, 1900 },   { 9000, 12000 },   { 9500, 30000 },    { 9900, 90000 },
  { 9990, 300000 }, { 9999, 1000000 }, { 10000, 4320000 },
};
static const pai__size_class helios_sizes[] = {
  { 1, 6400, 13 }, { 2, 1000, 18 }, { 4, 880, 18 }, { 8, 1300, 21 },
  { 16, 250, 30 }, { 32, 110, 30 }, { 64, 42, 30 }, { 128, 13, 30 },
  { 256, 4, 30 },  { 512, 1, 30 },
};
static const pai__end_class helios_ends[] = {
  { 5000, 145, 155 },
  { 9000, 260, 155 },
  { 10000, 440, 155 },
};

const pai__like *pai__like_of(int like)
{
  static const pai__like all[] = {
    [PAI_LIKE_PHILLY] = { philly_quantiles, philly_sizes, philly_ends,
                          PAI__LEN(philly_quantiles), PAI__LEN(philly_sizes),
                          PAI__LEN(philly_ends), 319, 14 },
    [PAI_LIKE_HELIOS] = { helios_quantiles, helios_sizes, helios_ends,
                          PAI__LEN(helios_quantiles), PAI__LEN(helios_sizes),
                          PAI__LEN(helios_ends), 300, 26 },
  };

  return like > 0 && (size_t)like < PAI__LEN(all) ? &all[like] : NULL;
}

/* Few jobs at night, fewer at noon and in the evening, and fewer on Saturday
 * and Sunday. */
const uint16_t pai__week[PAI__WEEK_HOURS] = {
  692,  580,  502,  447,  413,  402,  424,  502,  715,  1072, 1485, 1654, 1396,
  1396, 1652, 1743, 1743, 1676, 1396, 1262, 1396, 1419, 1239, 949,  711,  597,
  517,  459,  424,  413,  436,  517,  734,  1102, 1526, 1699, 1435, 1435, 1699,
  1791, 1791, 1722, 1435, 1297, 1435, 1458, 1274, 976,  711,  597,  517,  459,
  424,  413,  436,  517,  734,  1102, 1526, 1699, 1435, 1435, 1699, 1791, 1791,
  1722, 1435, 1297, 1435, 1458, 1274, 976,  705,  591,  512,  455,  420,  409,
  432,  512,  728,  1092, 1513, 1683, 1422, 1422, 1683, 1774, 1774, 1707, 1422,
  1286, 1422, 1444, 1263, 967,  686,  575,  498,  443,  409,  398,  420,  498,
  708,  1062, 1472, 1638, 1384, 1384, 1638, 1726, 1726, 1661, 1384, 1251, 1384,
  1405, 1228, 941,  470,  394,  341,  303,  280,  273,  288,  341,  485,  728,
  1009, 1123, 948,  948,  1123, 1183, 1183, 1138, 948,  857,  948,  963,  842,
  645,  470,  394,  341,  303,  280,  273,  288,  341,  485,  728,  1009, 1123,
  948,  948,  1123, 1183, 1183, 1138, 948,  857,  948,  963,  842,  645,
};
