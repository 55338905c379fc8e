-- Neovim's own client against `openpai helper`: argument 1 is the program,
-- 2 a job file with a mistake, 3 a file for what was seen.
local program, path, out = arg_program, arg_path, arg_out
local seen = {}

local function wait(what, ready)
  if not vim.wait(30000, ready, 10) then error("no " .. what) end
end

local function run()
  vim.cmd("edit " .. path)
  local client = vim.lsp.start_client({ name = "openpai",
                                        cmd = { program, "helper" } })
  vim.lsp.buf_attach_client(0, client)
  wait("diagnostics", function() return #vim.diagnostic.get(0) > 0 end)
  for _, d in ipairs(vim.diagnostic.get(0)) do
    table.insert(seen, string.format("%d:%d %s", d.lnum, d.col, d.code))
  end

  -- A correction, as a person takes it.
  local params = vim.lsp.util.make_range_params()
  params.range["end"] = { line = 99, character = 0 }
  params.context = { diagnostics = {}, only = { "source.fixAll" } }
  local answer = vim.lsp.buf_request_sync(0, "textDocument/codeAction",
                                          params, 30000)
  local action = answer[client].result[1]
  vim.lsp.util.apply_workspace_edit(action.edit, "utf-16")
  wait("end of diagnostics", function()
    return #vim.diagnostic.get(0) == 0
  end)

  -- Completion in the mapping of a role.
  local row = vim.fn.search("^  worker:")
  vim.fn.append(row, "    ")
  params = vim.lsp.util.make_position_params()
  params.position = { line = row, character = 4 }
  answer = vim.lsp.buf_request_sync(0, "textDocument/completion", params,
                                    30000)
  local labels = {}
  for _, item in ipairs(answer[client].result.items) do
    labels[item.label] = true
  end
  table.insert(seen, "completion " .. tostring(labels["taskRetryCount"]))
  vim.fn.deletebufline("%", row + 1)

  -- The role has another name, everywhere.
  vim.api.nvim_win_set_cursor(0, { row, 4 })
  vim.lsp.buf.rename("trainer")
  wait("renaming", function()
    return vim.fn.search("^  trainer:", "nw") > 0
  end)
  table.insert(seen, "rename " .. vim.fn.search("PAI_.*trainer", "nw"))

  vim.lsp.buf_request_sync(0, "textDocument/hover",
                           vim.lsp.util.make_position_params(), 30000)
  vim.lsp.stop_client(client)
  wait("end", function() return vim.lsp.client_is_stopped(client) end)
end

local ok, why = pcall(run)
local file = io.open(out, "w")
file:write(ok and "ok" or tostring(why), "\n", table.concat(seen, "\n"), "\n")
file:close()
vim.cmd("qall!")
