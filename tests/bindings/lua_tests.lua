-- Runs a table of tests by their names, and ends the program: 0, or 1 when one
-- of them has failed.
return function(tests)
  local names, failed = {}, 0
  for name in pairs(tests) do
    names[#names + 1] = name
  end
  table.sort(names)
  for _, name in ipairs(names) do
    local ok, message = xpcall(tests[name], debug.traceback)
    print((ok and "ok      " or "FAILED  ") .. name)
    if not ok then
      print(message)
      failed = failed + 1
    end
  end
  os.exit(failed == 0 and 0 or 1, true)
end
