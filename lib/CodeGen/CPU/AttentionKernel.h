//===- AttentionKernel.h - What the code of attention is made of -*- C++ -*-==//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of rope-attention-to-vector share the description of one kernel:
// what is known of the op when code is generated, the memory that the code
// works in, and the values at hand while one head is computed.
//
// Words. row: a query head and position of one key-value head; the query heads
// of a position are neighbours. strip: as many rows as a score tile has. panel:
// the keys of a score tile. item: a strip and a panel. block: the strips that
// go over all panels together.
//
// Scores are in units of log2. Each row has a reference, and weights are
// 2^(score − reference). The reference is 0 until a score lies more than
// `kHighestScore` above it; so ordinary rows need no maximum, no rescaling and
// no subtraction. Scores more than -`kLowestScore` below count as that low.
//
//===----------------------------------------------------------------------===//
#ifndef ROPE_LIB_CODEGEN_CPU_ATTENTIONKERNEL_H
#define ROPE_LIB_CODEGEN_CPU_ATTENTIONKERNEL_H

#include "DomainKernel.h"

namespace mlir::rope::cpu {

/// The range of scores about their reference in which weights and their sums
/// are ordinary numbers.
constexpr double kHighestScore = 31, kLowestScore = -120;
/// The smallest sum of weights that those of the lowest scores do not show in.
constexpr double kFaintestSum = 0x1p-70;
/// log2 e and ln 2.
constexpr double kLog2E = 1.4426950408889634074;
constexpr double kLn2 = 0.69314718055994530942;

enum class MaskKind { None, Keep, Add };

/// A range of keys, relative to whatever.
struct KeyRange {
  Value begin, end;
};

/// What the rows of a strip see: every row sees `inner`, no row sees more than
/// `outer`. `inner` may be empty.
struct StripRange {
  KeyRange inner, outer;
};

/// Memory that one head is computed in.
struct Scratch {
  /// Of a block: [row][step] scaled, rotated queries; [row][channel] outputs so
  /// far; [row][lane] sums of weights; [row] minus the reference.
  Value query, output, sums, references;
  /// What was lost by rounding when outputs and sums were added up; null if
  /// that is not kept.
  Value lostOutput, lostSums;
  /// [buffer][row][key] scores of two items.
  Value scores;
  /// When keys are read where they lie: [row · key][lane] products whose lanes
  /// are to be summed, and [tile][row · key] such sums.
  Value keyProducts, keySums;
  /// [slot · row][step] weights of the strips of a group, [slot · row][lane]
  /// their sums, and [slot] which strips these are.
  Value weights, weightSums, slots;
  /// [row][channel] sums of a panel's values that do not fit registers; null if
  /// they do, or take turns in them.
  Value panelSums;
  /// [key][step] keys of a panel, before they are transposed; [key][channel]
  /// values of a panel.
  Value keyRows, valueRows;
  /// [row] first key seen and the one after the last; [strip] the same of all
  /// and of any row. Null where all rows see the same.
  Value rowBegins, rowEnds, stripRanges;
};

/// Operands in the form that tiles read.
struct Packed {
  /// [panel][step][key]
  Value key;
  /// [step][channel]; null if values are read where they lie.
  Value value;
  /// [key] positions, if they are a list.
  Value positions;
};

/// The key-value head at hand.
struct Head {
  Value b, h;
  /// Keys that there are, and their panels.
  Value keys, panels;
  /// The position of the first key, unless positions are a list.
  Value firstPosition;
};

/// The block at hand.
struct RowBlock {
  /// Its first row, the rows of it that there are, and their strips.
  Value first, rows, strips;
  /// Panels that some row of it sees.
  Value firstPanel, endPanel;
  /// Whether every item takes the careful path, and whether keys of weight 0
  /// are passed over, whatever their values are.
  Value careful, skipsHidden;
};

/// Runs of the keys of each head, each of which has a state of its own, where
/// threads share keys.
struct Splits {
  /// How many there are for each head; null if keys are not split.
  Value count;
  /// The one at hand.
  Value current;
  /// The states of rows.
  Value states;
};

struct AttentionKernel : DomainKernel {
  AttentionKernel(AttentionOp op, CPUPlanAttr plan, OpBuilder &builder);

  AttentionOp op;
  CPUPlanAttr plan;

  //===--------------------------------------------------------------------===//
  // Known when code is generated
  //===--------------------------------------------------------------------===//

  /// Rows and keys of a score tile.
  int64_t tileRows, tileKeys;
  /// Channels of queries and of values, padded to what loops want.
  int64_t paddedChannels, paddedValueChannels;
  /// Steps beside the exponentials of one row; none if not positive.
  int64_t weave;
  /// Strips and rows of a block.
  int64_t blockStrips, blockRows;
  MaskKind mask = MaskKind::None;
  /// Positions of keys are a list.
  bool hasKeyList;
  /// Rows see different ranges of keys; these do not all begin at the first.
  bool hasRanges, hasBegins;
  /// Keys and values are read where they lie, each once for a strip; and rows
  /// whose products with a key are summed together then.
  bool streams;
  int64_t dotRows;
  /// Numbers that are multiplied at a time: 1, or pairs of bf16. The pairs are
  /// words: memory and vectors of f32 hold their bits.
  int64_t productWidth;
  /// Keys or values of a panel are rotated or padded as they are read.
  bool stagesKeys, stagesValues;
  /// Values are copied: converted, rotated or padded.
  bool packsValues;
  /// Of each two vectors of keys or values, the first has the even channels and
  /// the second the odd ones, and so have queries or outputs.
  bool splitsKeys, splitsValues;
  /// Scores are not relative to the reference when they come out of products.
  bool hasRawScores;

  int64_t getKeyVectors() const { return plan.getKeys(); }
  /// Products of a score, and products of a panel.
  int64_t getScoreSteps() const { return paddedChannels / productWidth; }
  int64_t getPanelSteps() const { return tileKeys / productWidth; }
  /// Whether some row may not see some key of a panel.
  bool mayHideKeys();
  /// Whether what one row sees is more than a range.
  bool hasElementMask() const { return hasKeyList || mask == MaskKind::Keep; }

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  /// Rows of a key-value head.
  Value numRows;
  Scratch scratch;
  Packed packed;
  Head head;
  RowBlock block;
  Splits splits;

  /// The coordinates of a row of the head, or of the block at hand; rows past
  /// the end of a block repeat its last one.
  Coordinates getRowCoordinates(Value row);
  Coordinates getBlockRowCoordinates(Value rowOfBlock);
  Coordinates getKeyCoordinates(Value key);
};

//===----------------------------------------------------------------------===//
// Pieces, each in a file of its own
//===----------------------------------------------------------------------===//

/// 2^x for x in [kLowestScore, kHighestScore], within 1.2e-7 of it, or 6e-5 if
/// it will be `rounded` to bf16. NaN for NaN.
Value buildExp2(KernelBuilder &b, Value x, bool lookup, bool rounded);
/// 2^x for any x up to kHighestScore; 0 far below.
Value buildCarefulExp2(KernelBuilder &b, Value x);
/// tanh x
Value buildTanh(KernelBuilder &b, Value x);

/// A row whose channels are in the order of `splitsKeys`, and one in the usual
/// order again.
Value splitPairs(AttentionKernel &k, Value row);
Value joinPairs(AttentionKernel &k, Value row);
/// A vector of keys or values where they lie, the `vector`-th from a channel on
/// that is the first of two vectors.
Value loadStreamed(AttentionKernel &k, OperandRole role, const Coordinates &at,
                   IndexLike firstChannel, int64_t vector);

/// A vector of f32 as products take it: as it is, or rounded to bf16, in half
/// as many words of two neighbours each; and back to f32.
Value toWords(AttentionKernel &k, Value numbers);
Value fromWords(AttentionKernel &k, Value words);
/// Two vectors of f32, rounded to bf16: a word for each channel, the first's
/// number in its low half.
Value pairRows(AttentionKernel &k, Value first, Value second);
/// a·b + sum, or the products of both numbers of a pair + sum, in each lane of
/// f32.
Value addProduct(AttentionKernel &k, Value a, Value b, Value sum);
/// Values with zeros for those numbers of pairs whose weight is 0. Without
/// pairs they are returned as they are.
Value dropUnweighted(AttentionKernel &k, Value weights, Value values);

/// Allocates memory of packed operands.
void allocatePacked(AttentionKernel &k);
void deallocatePacked(AttentionKernel &k);
/// Packs the keys and values of the head at hand.
void packHead(AttentionKernel &k);
/// Puts keys or values of a panel in rows of scratch memory. Keys beyond the
/// last are zeros.
void stageKeys(AttentionKernel &k, Value panel);
void stageValues(AttentionKernel &k, Value panel);

/// The number of keys of a batch, and the position of its first key.
void setUpKeys(AttentionKernel &k);
/// Finds what each row and strip of the block sees, and the block's panels.
void setUpRanges(AttentionKernel &k);
/// What a strip or row sees.
StripRange getStripRange(AttentionKernel &k, Value strip);
KeyRange getRowRange(AttentionKernel &k, Value rowOfBlock);
/// Whether no row of a strip sees a key of a panel.
Value isDead(AttentionKernel &k, Value panel, Value strip);
/// Whether some row of a strip does not see some key of a panel, by ranges.
/// Null if that cannot be.
Value isPartial(AttentionKernel &k, Value panel, Value strip);
/// Which of the keys from `key` on a row sees, by positions and mask; null if
/// that cannot hide any. `row` are the row's coordinates. Keys beyond the
/// operands are only safe to ask for with `padded`.
Value getElementMask(AttentionKernel &k, const Coordinates &row, Value key,
                     bool padded);
/// Which of the keys of a panel from `first` on lie in a range of the panel.
Value isInRange(AttentionKernel &k, const KeyRange &range, int64_t first);
/// A range relative to a panel.
KeyRange getRangeInPanel(AttentionKernel &k, const KeyRange &range,
                         Value panel);
/// The float mask of keys from `key` on.
Value loadFloatMask(AttentionKernel &k, const Coordinates &row, Value key,
                    bool padded);
/// Whether mask and positions of a panel may be read without a look at its end.
/// Null if always.
Value isPanelWhole(AttentionKernel &k, Value panel);

/// An item: a panel and a strip.
struct Item {
  Value panel, strip;
};
/// An item whose scores are in a buffer, and where its weights go.
struct ScoredItem : Item {
  Value buffer, slot;
};

/// Computes the scores of an item into a buffer. Next to it, if `current` is
/// given, the weights of that item; returns the largest score of these.
Value computeScores(AttentionKernel &k, const Item &item, Value buffer,
                    const ScoredItem *current = nullptr,
                    bool halfWidth = false);
/// Computes the same from keys where they lie.
void computeDots(AttentionKernel &k, const Item &item, Value buffer);
/// Applies the softcap to scores of an item.
void capScores(AttentionKernel &k, const Item &item, Value buffer);

/// Computes the weights of one row of an item and their sum; returns the larger
/// of `highest` and its scores. `padded`: the panel may reach beyond operands.
Value computeRowWeights(AttentionKernel &k, const ScoredItem &item, Value row,
                        Value highest, bool padded);
/// The same of all rows; returns the largest score.
Value computeWeights(AttentionKernel &k, const ScoredItem &item, bool padded);
/// Whether the sum of weights of some row is next to nothing.
Value hasFaintRow(AttentionKernel &k, const ScoredItem &item);
/// Hides the keys that a row does not see by its range.
void hideKeys(AttentionKernel &k, const ScoredItem &item);
/// Computes weights with regard for everything: moves references, hides keys.
/// `next` is the item whose scores are in the other buffer.
void computeCarefulWeights(AttentionKernel &k, const ScoredItem &item,
                           const Item &next);

/// Asks for memory that the next block and the next head will need, a little
/// beside each item.
void prefetchRows(AttentionKernel &k, const Item &item);
/// Some keys of a panel, and a part of so many of the lines that these, or
/// their values, are made of.
struct PanelPart {
  Value firstKey;
  int64_t keys;
  Value part;
  int64_t parts;
};
/// When keys and values are read where they lie, values of a panel are read
/// after the keys of the next one, and keys of a panel after the values of the
/// last but one. Beside a part of the one, these ask for the like part of the
/// other.
void prefetchValues(AttentionKernel &k, const Item &item,
                    const PanelPart &part);
void prefetchKeys(AttentionKernel &k, const Item &item, const PanelPart &part);

/// Adds weights · values of an item to the output, and the sums of its weights.
void addValues(AttentionKernel &k, const ScoredItem &item);

/// Computes a block of rows of the head at hand.
void computeBlock(AttentionKernel &k);
/// Puts scaled, rotated queries of the block in place.
void loadQueries(AttentionKernel &k);
/// Empties output, sums and references of the block.
void resetState(AttentionKernel &k);
/// How much too large `after` is as the sum of vectors `before` and `x`, by
/// rounding. Taken from the next term (Kahan), it keeps errors from growing
/// with the number of terms.
Value findLost(AttentionKernel &k, Value before, Value x, Value after);
/// Adds `x` to a vector of output or sums. With memory for it, what is lost by
/// rounding is kept for the next time.
void accumulate(AttentionKernel &k, Value x, Value memory, Value lost,
                ArrayRef<IndexLike> at);
/// Why a block is computed again with care.
struct Doubts {
  /// The sums of some row are so small that lowest scores show.
  Value faint;
  /// The output of some row is not finite, be it that a large weight met a
  /// large value or that a hidden value is not, or so small that small weights
  /// may have made it inexact.
  Value odd;
};
Doubts findDoubts(AttentionKernel &k);
/// Divides, rotates back, rounds and stores.
void storeOutputs(AttentionKernel &k);
/// The same of one row with this sum of weights. `getOutput` returns its
/// output, channels in their usual order, times a factor.
void storeOutput(AttentionKernel &k, const Coordinates &at, Value sum,
                 Value minusReference, function_ref<Value(Value)> getOutput);

/// Splits the keys of heads if these are few and threads may share them.
void setUpSplits(AttentionKernel &k);
/// Leaves the block those panels that are in the split at hand.
void takeSplit(AttentionKernel &k);
/// Keeps the state of the block.
void storeState(AttentionKernel &k);
/// Computes a row of the head at hand from the states of all splits.
void mergeStates(AttentionKernel &k, Value row);

/// The query rows of a key-value head, if they are known.
std::optional<int64_t> findNumRows(AttentionOp op);
/// Whether a plan with this `stream` reads keys and values where they lie.
bool isStreamed(AttentionOp op, int64_t stream);

/// Computes all of the op, in place of it.
void computeAttention(AttentionKernel &k);

} // namespace mlir::rope::cpu

#endif // ROPE_LIB_CODEGEN_CPU_ATTENTIONKERNEL_H
