# What the packages are made of is compiled once more for each: what counts there
# is that it is made, not how fast it runs.
set(CMAKE_C_FLAGS_RELEASE "-O0 -DNDEBUG" CACHE STRING "of a test")
