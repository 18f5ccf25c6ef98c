// RUN: not rope-opt %s --rope-decompose=ops=rope.rotates 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not rope-opt %s --rope-decompose=ops=linalg.softmax 2>&1 | FileCheck %s --check-prefix=DIALECT

// NAME: error: rope-decompose: there is no op rope.rotates in the rope dialect
// DIALECT: error: rope-decompose: there is no op linalg.softmax in the rope dialect
