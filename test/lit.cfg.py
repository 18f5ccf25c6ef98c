"""lit configuration: the tests of a folder run the tools of one build tree."""

import os
import platform

import lit.formats
from lit.llvm import llvm_config

config.name = "rope"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".py", ".c"]
config.excludes = ["CMakeLists.txt", "lit.cfg.py", "Inputs", "Unit", "consumer"]
config.test_source_root = os.path.join(config.rope_source_dir, "test")
config.test_exec_root = os.path.join(config.rope_build_dir, "test")

tools = [os.path.join(config.rope_build_dir, "bin"), config.llvm_tools_dir]
config.environment["PATH"] = os.pathsep.join(tools + [os.environ.get("PATH", "")])
config.environment["FILECHECK_OPTS"] = "-enable-var-scope --allow-unused-prefixes=false"
for name in ("HOME", "ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS", "LD_PRELOAD"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# The compiler makes code for the architecture that it runs on.
config.available_features.add(platform.machine())
if config.has_python_package:
    config.available_features.add("python-package")

config.substitutions.append(("%cc", config.c_compiler))
config.substitutions.append(("%python", config.python))
config.substitutions.append(("%mlir_lib_dir", config.mlir_lib_dir))
config.substitutions.append(("%rope_build", config.rope_build_dir))
config.substitutions.append(("%rope_source", config.rope_source_dir))
config.substitutions.append(("%models", os.path.join(config.rope_source_dir, "test", "Integration", "Models")))
# A stock mlir-opt with the plugin loaded.
plugin = os.path.join(config.rope_build_dir, "lib", "RopePlugin.so")
config.substitutions.append(
    (
        "%mlir_opt_with_plugin",
        f"{config.plugin_host} --load-dialect-plugin={plugin} --load-pass-plugin={plugin}",
    )
)
# Every run of the driver verifies after each pass, and that what it read
# survives printing and parsing.
config.substitutions.append((r"\brope-opt\b", "rope-opt --verify-each --verify-roundtrip"))
