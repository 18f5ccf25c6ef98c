#ifndef ROPE_IR_ROPEOPS_TD
#define ROPE_IR_ROPEOPS_TD
include "rope/IR/RopeDialect.td"
#endif // ROPE_IR_ROPEOPS_TD
