# SPDX-License-Identifier: GPL-2.0
# dkms/lib/printable.sh - text of others in messages: names of files, kernels and packages, lines of a build's log
# shellcheck shell=bash

# printable TEXT: one line that does nothing to a terminal but show itself; bytes that are no printable ASCII become
# \xNN, as text_escape() of the tools shows them in a log, since a package manager's terminal may have any encoding
printable() {
	local LC_ALL=C text=$1 out='' i char code
	case $text in
	*[!\ -~]*)
		for ((i = 0; i < ${#text}; i++)); do
			char=${text:i:1}
			case $char in
			[\ -~]) out+=$char ;;
			*)
				printf -v code %d "'$char"
				printf -v char '\\x%02x' $((code & 255))
				out+=$char ;;
			esac
		done
		text=$out ;;
	esac
	printf '%s\n' "$text"
}

# printable_lines: the same for each line of standard input
printable_lines() {
	local line
	while IFS= read -r line || [ -n "$line" ]; do
		printable "$line"
	done
}
