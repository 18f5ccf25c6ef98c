// RUN: %mlir_opt_with_plugin --show-dialects %s | FileCheck %s

// A stock mlir-opt knows the dialect once the plugin is loaded.
// CHECK: Available Dialects: {{.*}}rope
