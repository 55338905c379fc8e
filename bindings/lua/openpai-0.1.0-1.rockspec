-- For LuaRocks, in the root of the source tree and offline:
--   luarocks make bindings/lua/openpai-0.1.0-1.rockspec
-- The module holds the library; it needs cmake, swig and what docs/dependencies.md
-- lists of libraries.
rockspec_format = "3.0"
package = "openpai"
version = "0.1.0-1"
source = {
  url = "file://.", -- this tree; `luarocks make` fetches nothing
}
description = {
  summary = "OpenPAI as a library: read a job file, run it on this machine",
  license = "MIT",
}
supported_platforms = { "unix" }
dependencies = { "lua >= 5.1, < 5.5" }
build = {
  type = "command",
  build_command = [[
    cmake -S . -B build/luarocks -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_C_COMPILER=$(CC) -DOPENPAI_BUILD_LUA=ON \
      -DOPENPAI_LUA_INCLUDE_DIR=$(LUA_INCDIR) -DOPENPAI_BINDINGS_STATIC=ON \
      -DOPENPAI_BUILD_PYTHON=OFF -DOPENPAI_BUILD_CLI=OFF \
      -DOPENPAI_BUILD_TESTS=OFF -DOPENPAI_BUILD_BENCH=OFF \
      -DOPENPAI_BUILD_EXAMPLES=OFF -DOPENPAI_INSTALL=OFF &&
    cmake --build build/luarocks --target openpai_lua openpai_task \
      --parallel `getconf _NPROCESSORS_ONLN`
  ]],
  install = { lib = {
    openpai = "build/luarocks/lua/openpai.so",
    -- The supervisor of tasks, which the library finds beside the module.
    ["openpai-task"] = "build/luarocks/libexec/openpai/openpai-task",
  } },
}
