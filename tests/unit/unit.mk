# SPDX-License-Identifier: GPL-2.0
# Unit tests of code in user space, included by the directories. Needs libcmocka-dev.
# make check: runs them, TAP on stdout. Output in $(O), default build/unit/$(NAME) at the top.
#	SEED=, STEPS=: of the random test
# make mutate: are the tests able to fail? See ./mutate
# Of the includer: NAME, SRC (what is tested), DEPS (its headers), and where they are in CPPFLAGS
O ?= ../../../build/unit/$(NAME)
CFLAGS ?= -O2 -g
CFLAGS += -std=gnu11 -Wall -Wextra -Werror -Wno-missing-field-initializers \
	-fsanitize=address,undefined -fno-sanitize-recover=all

TESTS := $(wildcard *.c)

all: $(O)/$(NAME)-test

$(O)/$(NAME)-test: $(TESTS) $(wildcard *.h) $(SRC) $(DEPS) Makefile ../unit.mk
	mkdir -p $(O)
	$(CC) $(CPPFLAGS) $(CFLAGS) -o $@ $(TESTS) $(SRC) -lcmocka $(LDLIBS)

check: $(O)/$(NAME)-test
	CMOCKA_MESSAGE_OUTPUT=TAP $<

mutate:
	./mutate

clean:
	rm -rf $(O)

.PHONY: all check mutate clean
