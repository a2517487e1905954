# Reads a public header and writes what it says as Markdown or as man pages, so that neither can drift.
#
#     awk -v out=md  -v header=tileswap -f docs/api.awk src/tileswap.h > docs/API.md
#     awk -v out=man -v header=tileswap -v dir=DIR -v version=0.1.0 -f docs/api.awk src/tileswap.h
#
# What it relies on in the header: a comment that begins in column 1 opens a group and speaks for the
# declarations up to the next such comment; "/* ---- title ---- */" opens a section; the first comment
# of the file is the overview; the indented lines of a comment are lists, pictures and formulas.

# ---- reading ----------------------------------------------------------------------------------

function open_group(text) {
	g = ++groups
	group_text[g] = text
	group_section[g] = section
}

function comment_done(text) {
	if (text ~ /^-+ .* -+[ \n]*$/) {
		gsub(/^-+ | -+[ \n]*$/, "", text)
		section = text
	} else if (!overview)
		overview = text
	else
		open_group(text)
}

# The name that a complete declaration declares, with its kind in `kind`; "" for none to speak of.
function declared(code,   name) {
	if (code ~ /^#define/) {
		kind = "macro"
		match(code, /^#define +[A-Za-z_0-9]+/)
		name = substr(code, RSTART, RLENGTH)
		sub(/^#define +/, "", name)
		return name ~ /^(TSW_API|TILESWAP_([A-Z]+_)?H)$/ ? "" : name
	}
	if (code ~ /^typedef/) {
		kind = "type"
		gsub(/\/\*[^*]*\*\//, "", code)
		gsub(/[;\n]/, " ", code)
		sub(/ +$/, "", code)
		match(code, /[A-Za-z_0-9]+$/)
		return substr(code, RSTART)
	}
	kind = "call"
	return match(code, /tsw_[a-z0-9_]+\(/) ? substr(code, RSTART, RLENGTH - 1) : ""
}

function declaration_done(code,   name) {
	name = declared(code)
	if (!name || !g)
		return
	if (sub(/^TSW_API /, "", code))
		gsub(/\n         /, "\n ", code) # what was aligned behind TSW_API stays aligned
	sub(/\n+$/, "\n", code)
	group_code[g] = group_code[g] code
	if (kind == "macro")
		return
	group_names[g] = group_names[g] (group_names[g] ? " " : "") name
	if (kind == "call")
		calls = calls (calls ? " " : "") name
}

in_comment {
	last = sub(/ *\*\/ *$/, "")
	sub(/^ \*( |$)/, "")
	if (!/^SPDX/)
		text = text $0 "\n"
	if (last) {
		in_comment = 0
		comment_done(text)
	}
	next
}

/^\/\*/ && !depth && code == "" {
	text = ""
	sub(/^\/\* ?/, "")
	if (sub(/ *\*\/ *$/, ""))
		comment_done($0 "\n")
	else {
		in_comment = 1
		text = $0 "\n"
	}
	next
}

# Preprocessor lines other than definitions, and the braces of extern "C".
code == "" && (/^#/ && !/^#define/ || /^extern "C"/ || /^}$/ || /^$/) { next }

{
	code = code $0 "\n"
	if (code ~ /^#define/) {
		if (!/\\$/) {
			declaration_done(code)
			code = ""
		}
		next
	}
	line = $0
	gsub(/\/\*.*\*\//, "", line)
	was = depth
	depth += gsub(/\{/, "{", line) - gsub(/\}/, "}", line)
	if (!was && depth && code ~ /\)[ \n]*\{/ || inline_body) {
		inline_body = depth > 0
		if (!inline_body) { # an inline function: its head is what a reader wants
			sub(/[ \n]*\{.*/, ";\n", code)
			declaration_done(code)
			code = ""
		}
	} else if (!depth && line ~ /; *$/) {
		declaration_done(code)
		code = ""
	}
}

# ---- writing ----------------------------------------------------------------------------------

# A comment is paragraphs, apart by empty lines; an indented line is shown as it stands.
function write_text(text,   line, i, count, shown) {
	count = split(text, line, "\n")
	shown = 0
	for (i = 1; i < count; i++) {
		if (line[i] == "") {
			gap = 1
			continue
		}
		if (shown != (line[i] ~ /^  /)) {
			shown = !shown
			verbatim(shown)
			if (!shown && out == "man")
				put(".PP")
		} else if (gap)
			put(shown ? "" : out == "man" ? ".PP" : "")
		gap = 0
		put(out == "man" ? (shown ? man(line[i]) : man_prose(line[i])) : (shown ? line[i] : markdown(line[i])))
	}
	if (shown)
		verbatim(0)
	gap = 0
}

function put(line) { print line > file }
function verbatim(on) {
	if (out == "man")
		put(on ? ".PP\n.nf" : ".fi")
	else
		put(on ? "\n```" : "```\n")
}

function markdown(line,   part, n, i, done) {
	n = split(line, part, "`")
	for (i = 1; i <= n; i++) {
		if (i % 2) {
			gsub(/\*/, "\\*", part[i])
			gsub(/</, "\\<", part[i])
		}
		done = done (i > 1 ? "`" : "") part[i]
	}
	sub(/ +$/, "", done)
	return done
}

function man(line) {
	gsub(/\\/, "\\e", line)
	gsub(/-/, "\\-", line)
	gsub(/'/, "\\(aq", line)
	return (line ~ /^\./ ? "\\\\&" : "") line
}

function man_prose(line,   part, n, i, done) {
	n = split(line, part, "`")
	for (i = 1; i <= n; i++)
		done = done (i % 2 ? man(part[i]) : "\\fI" man(part[i]) "\\fR")
	sub(/^ +/, "", done)
	return done
}

function first_sentence(text) {
	gsub(/\n/, " ", text)
	gsub(/`/, "", text)
	sub(/[.;:?] .*/, "", text)
	sub(/[. ]+$/, "", text)
	return text
}

function about(i,   text) {
	text = group_section[i] ? group_section[i] : first_sentence(group_text[i])
	gsub(/`/, "", text)
	return text
}

function write_markdown(   i, at) {
	file = "/dev/stdout"
	put((header == "tileswap" ? "# The calls\n" : "\n# " header ".h\n"))
	put("Made from [src/" header ".h](../src/" header ".h), the authority, by `make api`. Not for editing.\n")
	write_text(overview)
	for (i = 1; i <= groups; i++) {
		if (!group_code[i])
			continue
		if (group_section[i] != at && group_section[i]) {
			at = group_section[i]
			put("\n## " toupper(substr(at, 1, 1)) markdown(substr(at, 2)))
		}
		put("\n```c\n" group_code[i] "```\n")
		write_text(group_text[i])
	}
}

function man_head(name) {
	file = dir "/" name ".3"
	put(".\\\" Made from " header ".h by docs/api.awk; not for editing.")
	put(".TH " toupper(name) " 3 \"\" \"tileswap " version "\" \"tileswap\"")
	put(".SH NAME")
}

function man_code(code,   line, i, n) {
	put(".nf")
	n = split(code, line, "\n")
	for (i = 1; i < n; i++)
		put(man(line[i]))
	put(".fi")
}

function write_page(i,   name, n, k, link, all) {
	n = split(group_names[i], name, " ")
	man_head(name[1])
	all = group_names[i]
	gsub(/ /, ", ", all)
	put(all " \\- " man(about(i)))
	put(".SH SYNOPSIS\n.nf\n#include <" header ".h>\n.PP")
	man_code(group_code[i])
	put(".SH DESCRIPTION")
	write_text(group_text[i])
	put(".SH SEE ALSO\n.BR " header " (3)" (name[1] == "tsw_status" ? "" : ",\n.BR tsw_status (3)"))
	close(file)
	for (k = 2; k <= n; k++) {
		link = dir "/" name[k] ".3"
		print ".so man3/" name[1] ".3" > link
		close(link)
	}
}

function write_man(   i, name, n, k) {
	man_head(header)
	put(header " \\- " man(first_sentence(substr(overview, index(overview, ":") + 2))))
	put(".SH SYNOPSIS\n.nf\n#include <" header ".h>\n.PP\n" (header == "tileswap_mpi" ? "mpicc" : "cc") " ... $(pkg\\-config \\-\\-cflags \\-\\-libs " (header ~ /_(mpi|nccl)$/ ? header : "tileswap") ")\n.fi")
	put(".SH DESCRIPTION")
	write_text(overview)
	for (i = 1; i <= groups; i++)
		if (group_code[i] && !group_names[i]) {
			put(".PP")
			write_text(group_text[i])
			man_code(group_code[i])
		}
	put(".SH CALLS")
	n = split(calls, name, " ")
	for (k = 1; k <= n; k++)
		put(".BR " name[k] " (3)" (k < n ? "," : ""))
	put(".SH SEE ALSO\n.BR tileswap (1),\n.BR tsw_status (3)")
	close(file)
	for (i = 1; i <= groups; i++)
		if (group_names[i])
			write_page(i)
}

END {
	if (code != "" || depth || !calls) {
		print "docs/api.awk: cannot read this header, stopped at: " code > "/dev/stderr"
		exit 1
	}
	if (out == "man")
		write_man()
	else
		write_markdown()
}
