//===- Mutate.cpp - Random changes of text --------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mutations of whole tokens: far more of their results parse than of changes of
// single bytes.
//
//===----------------------------------------------------------------------===//

#include "ParserCheck.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir::rope;

const std::vector<StringRef> fuzz::dictionary = {
    // Ops and their words.
    "rope.table", "rope.assemble", "rope.compose", "rope.rotate",
    "rope.rerotate", "rope.attention", "rope.online_attention",
    "rope.linear_attention", "ins", "outs", "inverse", "mask", "query_pos",
    "key_pos", "key_length", "sink", "rotate_query", "rotate_key",
    "rotate_value", "rerotate_output", "scale", "causal", "window", "softcap",
    "layout", "length", "axes", "f32_angle", "f32_quotient", "feature_map",
    "identity", "elu_plus_one", "relu", "exp", "normalizer_eps", "along",
    "half", "interleaved", "to", "offset", "distance", "full", "true", "false",
    // Attributes.
    "#rope.rotary", "#rope.layout", "#rope.default", "#rope.linear",
    "#rope.ntk", "#rope.dynamic_ntk", "#rope.yarn", "#rope.llama3",
    "#rope.longrope", "#rope.proportional", "#rope.explicit", "theta", "factor",
    "trained", "beta_fast", "beta_slow", "truncate", "magnitude", "mscale",
    "mscale_all_dim", "low", "high", "short_factors", "long_factors", "share",
    "frequencies", "query", "key", "value", "output", "lse", "kv_state",
    "k_sum", "\"b(hg)md\"", "\"bm(hg)d\"", "\"bhgmd\"", "\"bnhd\"", "\"bhgmn\"",
    "\"11mn\"", "\"1\"", "\"b\"", "\"\"", "\"(hg\"", "\"bb\"",
    // Types and punctuation.
    "f16", "bf16", "f32", "f64", "i1", "i8", "i64", "index", "none",
    "tensor<4x2x4xf32>", "tensor<?x2x4xf32>", "tensor<2x4xf32>",
    "tensor<0x2x4xf32>", "tensor<*xf32>", "tensor<f32>", "tensor<4xindex>",
    "tensor<4xi64>", "memref<4x2x4xf32>", "memref<?x?xf32>",
    "memref<4x8xf32, strided<[?, 1], offset: ?>>", "vector<4xf32>",
    "complex<f32>", "(", ")", "<", ">", "[", "]", "{", "}", ",", ":", "=", "->",
    "x", "?"};

/// Numbers at the edges of what attributes and types hold.
static constexpr StringRef kNumbers[] = {"0",
                                         "1",
                                         "2",
                                         "3",
                                         "-1",
                                         "-2",
                                         "127",
                                         "256",
                                         "4096",
                                         "65536",
                                         "2147483647",
                                         "2147483648",
                                         "4294967296",
                                         "9223372036854775807",
                                         "-9223372036854775808",
                                         "9223372036854775808",
                                         "18446744073709551616",
                                         "0.0",
                                         "1.0",
                                         "-1.0",
                                         "0.5",
                                         "1.0e300",
                                         "1.0e-300",
                                         "5.0e-324",
                                         "-0.0",
                                         "0x7FF0000000000000",
                                         "0x7FF8000000000000",
                                         "0xFFF0000000000000",
                                         "1.0e4",
                                         "1e400"};

static bool isWordChar(char c) {
  return isAlnum(c) || c == '_' || c == '.' || c == '%' || c == '#' ||
         c == '!' || c == '@';
}

/// The numbers and words of the text, its spaces, and every other byte alone.
static std::vector<StringRef> tokenize(StringRef text) {
  std::vector<StringRef> tokens;
  while (!text.empty()) {
    // The x of shapes separates words.
    size_t size =
        isDigit(text[0])
            ? text.take_while([](char c) { return isDigit(c) || c == '.'; })
                  .size()
            : text.take_while(isWordChar).size();
    if (text[0] == 'x' && text.size() > 1 &&
        (isDigit(text[1]) || text[1] == '?'))
      size = 1;
    size = std::max<size_t>(size, 1);
    tokens.push_back(text.take_front(size));
    text = text.drop_front(size);
  }
  return tokens;
}

std::string fuzz::mutate(StringRef text, StringRef other,
                         std::mt19937_64 &rng) {
  std::vector<StringRef> tokens = tokenize(text), others = tokenize(other);
  auto below = [&](size_t bound) { return bound ? rng() % bound : 0; };
  for (size_t change = 0, count = 1 + below(4); change != count; ++change) {
    if (tokens.empty())
      break;
    auto at = tokens.begin() + below(tokens.size());
    switch (below(8)) {
    case 0:
      tokens.erase(at);
      break;
    case 1:
      tokens.insert(at, dictionary[below(dictionary.size())]);
      break;
    case 2:
      std::swap(*at, tokens[below(tokens.size())]);
      break;
    case 3: {
      // Copied: insertion may move what it reads.
      std::vector<StringRef> run(
          at, at + below(std::min<size_t>(16, tokens.end() - at)));
      tokens.insert(tokens.begin() + below(tokens.size()), run.begin(),
                    run.end());
      break;
    }
    case 4:
      if (!others.empty())
        *at = others[below(others.size())];
      break;
    case 5:
      *at = dictionary[below(dictionary.size())];
      break;
    default:
      // The next number from here on.
      at = std::find_if(at, tokens.end(),
                        [](StringRef t) { return isDigit(t[0]); });
      if (at != tokens.end())
        *at = kNumbers[below(std::size(kNumbers))];
      break;
    }
  }
  return join(tokens, "");
}
