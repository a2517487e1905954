# fish completion for tileswap.  The words come from `tileswap help`, so they are always those of the
# tool that is installed.

function __tileswap_commands
	tileswap help 2>/dev/null | string replace -rf '^  tileswap ([a-z]+) .*' '$1'
end

function __tileswap_command
	set -l words (commandline -opc)
	test (count $words) -ge 2; and echo $words[2]
end

function __tileswap_options
	tileswap help (__tileswap_command) 2>/dev/null |
		string replace -rf '^  (?:-[a-z], )?(--?[a-z-]+)(?: [^ ]+)? {2,}(.*)' '$1\t$2'
end

# The choices of the option before the cursor; fails where it has none.
function __tileswap_values
	set -l option (commandline -opc)[-1]
	string match -q -- '--*' $option; or return 1
	set -l words (tileswap help (__tileswap_command) 2>/dev/null |
		string replace -rf -- "^  $option (?:([^ ]+\|[^ ]+) .*|T .*raw: *(.*))" '$1$2' | string split -n -r -- '|' |
		string replace -a ',' ' ' | string split -n ' ')
	test (count $words) -gt 0; and printf '%s\n' $words
end

complete -c tileswap -n 'test (count (commandline -opc)) -eq 1' -f -a '(__tileswap_commands)'
complete -c tileswap -n 'test (count (commandline -opc)) -eq 1' -f -a '--version --help'
complete -c tileswap -n 'test (count (commandline -opc)) -eq 2; and test (__tileswap_command) = help' -f -a '(__tileswap_commands)'
complete -c tileswap -n 'test (count (commandline -opc)) -ge 2; and __tileswap_values >/dev/null' -f -a '(__tileswap_values)'
complete -c tileswap -n 'test (count (commandline -opc)) -ge 2; and string match -q -- "-*" (commandline -ct)' -f -a '(__tileswap_options)'
