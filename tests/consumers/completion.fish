# Completes as fish would.
source $argv[1]
set -l bad 0
function expect
	set -l got (complete -C $argv[1] | string replace -r '\t.*' '')
	contains -- $argv[2] $got; and return 0
	echo "$argv[1]: got '$got', want '$argv[2]' among them"
	return 1
end
expect 'tileswap tr' transpose; or set bad 1
expect 'tileswap help ch' checksum; or set bad 1
expect 'tileswap transpose --th' --threads; or set bad 1
expect 'tileswap checksum --format n' npy; or set bad 1
expect 'tileswap checksum --dtype f' f64; or set bad 1
exit $bad
