// Calls the functions of ownership.mlir and watches malloc and free.

#include <stdint.h>
#include <stdio.h>
#include <string.h>

void *__real_malloc(size_t);
void __real_free(void *);

enum { Capacity = 1024 };
static void *live[Capacity];
static int watching, wrongFrees;

static int find(void *block) {
  for (int i = 0; i < Capacity; ++i)
    if (live[i] == block)
      return i;
  return -1;
}

void *__wrap_malloc(size_t size) {
  void *block = __real_malloc(size);
  if (watching)
    live[find(NULL)] = block;
  return block;
}

void __wrap_free(void *block) {
  if (!block)
    return;
  int i = find(block);
  if (watching && i < 0) {
    ++wrongFrees;
    return;
  }
  if (i >= 0)
    live[i] = NULL;
  __real_free(block);
}

typedef struct {
  float *allocated, *aligned;
  int64_t offset, size, stride;
} Vector;

#define DECLARE(name) void _mlir_ciface_##name(Vector *, Vector *, int64_t);
DECLARE(argument)
DECLARE(constant)
DECLARE(twice)
DECLARE(either)
DECLARE(loop)
DECLARE(slice)
DECLARE(update)
DECLARE(call)

static int countLive(void) {
  int count = 0;
  for (int i = 0; i < Capacity; ++i)
    count += live[i] != NULL;
  return count;
}

static void check(const char *name,
                  void (*function)(Vector *, Vector *, int64_t), int64_t n,
                  int results, int64_t size, const float *want) {
  float data[4] = {1, -2, 3, 4}, before[4];
  memcpy(before, data, sizeof data);
  Vector argument = {data, data, 0, 4, 1}, result[2];
  const char *problem = NULL;
  wrongFrees = 0;
  watching = 1;
  function(result, &argument, n);
  for (int r = 0; r < results; ++r) {
    if (result[r].size != size)
      problem = "wrong size";
    for (int i = 0; !problem && i < size; ++i)
      if (result[r].aligned[result[r].offset + i * result[r].stride] != want[i])
        problem = "wrong value";
  }
  for (int r = 0; r < results; ++r)
    __wrap_free(result[r].allocated);
  watching = 0;
  if (memcmp(before, data, sizeof data))
    problem = "argument written";
  if (wrongFrees)
    problem = "freed what is not its own";
  if (countLive())
    problem = "leak";
  memset(live, 0, sizeof live);
  printf("%s: %s\n", name, problem ? problem : "ok");
}

int main(void) {
  const float same[] = {1, -2, 3, 4}, doubled[] = {2, -4, 6, 8};
  const float constants[] = {1, 2, 3, 4}, loop[] = {4, -8, 12, 16};
  const float part[] = {-4, 6}, updated[] = {7, -2, 3, 4};
  const float absolute[] = {2, 0, 6, 8};
  check("argument", _mlir_ciface_argument, 3, 1, 4, same);
  check("constant", _mlir_ciface_constant, 3, 1, 4, constants);
  check("twice", _mlir_ciface_twice, 3, 2, 4, doubled);
  check("either", _mlir_ciface_either, 3, 1, 4, same);
  check("either", _mlir_ciface_either, 1, 1, 4, doubled);
  check("loop", _mlir_ciface_loop, 3, 1, 4, loop);
  check("slice", _mlir_ciface_slice, 3, 1, 2, part);
  check("update", _mlir_ciface_update, 3, 1, 4, updated);
  check("call", _mlir_ciface_call, 3, 1, 4, absolute);
  return 0;
}
