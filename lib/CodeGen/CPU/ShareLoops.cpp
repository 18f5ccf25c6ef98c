//===- ShareLoops.cpp - Loops that threads share --------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements rope-share-loops. Upstream's way, by scf.parallel, would leave an
// allocation in each iteration.
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "rope/CodeGen/CPU/Passes.h"

namespace mlir::rope {
#define GEN_PASS_DEF_SHARELOOPSPASS
#include "rope/CodeGen/CPU/Passes.h.inc"
} // namespace mlir::rope

using namespace mlir;
using namespace mlir::rope;
using namespace mlir::rope::cpu;

namespace {
/// Memory of one iteration that serves all iterations of a thread.
struct Workspace {
  memref::AllocOp alloc;
  memref::DeallocOp dealloc;
};

class SharedLoop : KernelBuilder {
public:
  SharedLoop(scf::ForallOp loop, OpBuilder &builder)
      // It makes no vectors.
      : KernelBuilder(loop.getLoc(), builder, /*lanes=*/1), loop(loop) {
    threads = true;
  }

  /// Replaces the loop.
  void create();

private:
  void findWorkspaces();
  Value countIterations();
  SmallVector<Value> getPositions(Value iteration);
  void moveBody(Value iteration);

  scf::ForallOp loop;
  SmallVector<Workspace> workspaces;
  /// Of each dim.
  SmallVector<Value> counts;
};
} // namespace

/// The only op that frees a buffer, if it stands in the same block.
static memref::DeallocOp findDealloc(memref::AllocOp alloc) {
  memref::DeallocOp found;
  for (Operation *user : alloc.getResult().getUsers())
    if (auto dealloc = dyn_cast<memref::DeallocOp>(user)) {
      if (found || dealloc->getBlock() != alloc->getBlock())
        return nullptr;
      found = dealloc;
    }
  return found;
}

/// Whether an iteration of a loop comes to an op at most once.
static bool isInNoInnerLoop(Operation *op, scf::ForallOp loop) {
  Operation *parent = op->getParentOp();
  while (isa<scf::IfOp>(parent))
    parent = parent->getParentOp();
  return parent == loop;
}

void SharedLoop::findWorkspaces() {
  loop.getBody()->walk([&](memref::AllocOp alloc) {
    memref::DeallocOp dealloc = findDealloc(alloc);
    if (dealloc && isInNoInnerLoop(alloc, loop) &&
        llvm::all_of(alloc->getOperands(), [&](Value size) {
          return loop.isDefinedOutsideOfLoop(size);
        }))
      workspaces.push_back({alloc, dealloc});
  });
}

Value SharedLoop::countIterations() {
  Value all = index(1);
  for (auto [from, to, step] :
       llvm::zip_equal(loop.getMixedLowerBound(), loop.getMixedUpperBound(),
                       loop.getMixedStep())) {
    Value length = greater(minus(to, from), 0);
    counts.push_back(quotientUp(length, step));
    all = times(all, counts.back());
  }
  return all;
}

SmallVector<Value> SharedLoop::getPositions(Value iteration) {
  SmallVector<Value> positions;
  for (size_t i = counts.size(); i-- > 0;) {
    Value number = i == 0 ? iteration : remainder(iteration, counts[i]);
    if (i != 0)
      iteration = quotient(iteration, counts[i]);
    positions.push_back(plus(loop.getMixedLowerBound()[i],
                             times(number, loop.getMixedStep()[i])));
  }
  std::reverse(positions.begin(), positions.end());
  return positions;
}

void SharedLoop::moveBody(Value iteration) {
  for (auto [old, position] :
       llvm::zip_equal(loop.getInductionVars(), getPositions(iteration)))
    old.replaceAllUsesWith(position);
  Block *body = loop.getBody();
  Block *target = getInsertionBlock();
  // Each iteration gives its part of the stack back, as before.
  bool usesStack =
      body->walk([](memref::AllocaOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  if (usesStack) {
    auto scope = memref::AllocaScopeOp::create(*this, TypeRange());
    target = &scope.getBodyRegion().emplaceBlock();
  }
  target->getOperations().splice(target->end(), body->getOperations(),
                                 body->begin(), std::prev(body->end()));
  setInsertionPointToEnd(target);
  if (usesStack) {
    memref::AllocaScopeReturnOp::create(*this, ValueRange());
    setInsertionPointAfter(target->getParentOp());
  }
}

void SharedLoop::create() {
  findWorkspaces();
  Value all = countIterations();
  auto member = [&](function_ref<void()> sharedLoop) {
    for (Workspace &space : workspaces)
      space.alloc->moveBefore(getInsertionBlock(), getInsertionPoint());
    sharedLoop();
    for (Workspace &space : workspaces)
      space.dealloc->moveBefore(getInsertionBlock(), getInsertionPoint());
  };
  share(
      all, 1, isLess(1, all), member,
      [&](Value iteration) { moveBody(iteration); }, Sharing::Runs);
  loop.erase();
}

static bool isShared(Operation *op) {
  return op->getParentWithTrait<OpTrait::HasParallelRegion>() ||
         op->getParentOfType<omp::ParallelOp>();
}

namespace {
struct ShareLoops : rope::impl::ShareLoopsPassBase<ShareLoops> {
  using ShareLoopsPassBase::ShareLoopsPassBase;

  void runOnOperation() override {
    SmallVector<scf::ForallOp> loops;
    // Inner ones first.
    getOperation()->walk([&](scf::ForallOp loop) { loops.push_back(loop); });
    IRRewriter rewriter(&getContext());
    for (scf::ForallOp loop : loops) {
      if (loop->getNumResults() != 0) {
        loop.emitOpError("works on tensors: bufferize it first");
        return signalPassFailure();
      }
      rewriter.setInsertionPoint(loop);
      if (!isShared(loop))
        SharedLoop(loop, rewriter).create();
      else if (failed(scf::forallToForLoop(rewriter, loop)))
        return signalPassFailure();
    }
  }
};
} // namespace
