find_program(ROPE_LIT NAMES lit llvm-lit REQUIRED
  HINTS "${LLVM_TOOLS_BINARY_DIR}" "${PROJECT_SOURCE_DIR}/build/venv/bin"
  DOC "The lit test runner of LLVM")

# rope_add_lit_suite(FOLDER [DEPENDS targets])
#
# Runs the folder of this directory by lit, as the CTest test lit.FOLDER.
function(rope_add_lit_suite folder)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  string(REPLACE "/" "." name "${folder}")
  add_test(NAME lit.${name}
    COMMAND "${ROPE_LIT}" -sv --param rope_site_config=${PROJECT_BINARY_DIR}/test/lit.site.cfg.py
      "${PROJECT_BINARY_DIR}/test/${folder}")
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/test/${folder}")
endfunction()

# rope_add_unit_test(NAME sources... [LINK_LIBS libs] [MLIR_LIBS libs])
#
# A GoogleTest program, each of its tests a CTest test.
function(rope_add_unit_test name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS;MLIR_LIBS" ${ARGN})
  add_llvm_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} GTest::gtest_main)
  if(ARG_MLIR_LIBS)
    mlir_target_link_libraries(${name} PRIVATE ${ARG_MLIR_LIBS})
  endif()
  rope_add_sanitizer_options(${name})
  gtest_discover_tests(${name} TEST_PREFIX "unit." DISCOVERY_MODE PRE_TEST)
endfunction()
