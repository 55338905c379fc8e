# The viewer's page as C: cmake -D FOLDER=src/viewer -D OUT=page.c -P this.
# The modules become one script: in the order of MODULES, in which each comes
# behind those that it imports, without the lines that import and the word
# export.  So no two of them may have a name in common.
set(MODULES format chart over_time groups timeline report)

set(script "")
foreach(module IN LISTS MODULES)
  file(READ ${FOLDER}/${module}.js text)
  string(APPEND script "${text}")
endforeach()
string(REGEX REPLACE "\nimport [^\n]*" "" script "${script}")
string(REGEX REPLACE "\nexport " "\n" script "${script}")

file(READ ${FOLDER}/viewer.css style)
file(READ ${FOLDER}/page.html page)
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@SCRIPT@" "${script}" page "${page}")

set(code "#include \"viewer/viewer.h\"\n")
set(parts "")
foreach(mark IN ITEMS "@TEXT@" "@REPORT@" "")
  if(mark STREQUAL "")
    set(part "${page}")
  else()
    string(FIND "${page}" "${mark}" at)
    string(LENGTH "${mark}" length)
    math(EXPR behind "${at} + ${length}")
    string(SUBSTRING "${page}" 0 ${at} part)
    string(SUBSTRING "${page}" ${behind} -1 page)
  endif()
  list(LENGTH parts i)
  string(HEX "${part}" bytes)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(................................................................................)"
    "\\1\n" bytes "${bytes}")
  string(APPEND code "static const unsigned char part${i}[] = {\n${bytes}};\n")
  list(APPEND parts "{ part${i}, sizeof(part${i}) }")
endforeach()
list(JOIN parts ", " parts)
string(APPEND code
  "const pai__viewer_part pai__viewer_page[3] = { ${parts} };\n")
file(WRITE ${OUT} "${code}")
