// RUN: rope-opt %s | FileCheck %s

// CHECK: module
module {}
