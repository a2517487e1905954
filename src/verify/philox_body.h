/* PHILOX_NAME: PHILOX_LANES blocks at a time, a block in each 64-bit lane, in vectors of one
 * instruction set.  Only the lower half of a lane counts; what gathers in the upper half is not
 * multiplied (VMUL takes lower halves) and is cut off in the end.  The including file defines
 * PHILOX_NAME, PHILOX_TARGET, PHILOX_LANES, VEC, VSET(u64), VLOAD(p), VSTORE(p, x), VXOR(x, y),
 * VAND(x, y),
 * VOR(x, y), VADD(x, y), VMUL(x, y), VSHIFT(x, k) to the right, VUP(x) by 32 to the left. */
PHILOX_TARGET static void PHILOX_NAME(uint64_t seed, uint64_t first, unsigned char *out)
{
	static const uint64_t lane[8] = {0, 1, 2, 3, 4, 5, 6, 7};
	const VEC block = VADD(VSET((long long)first), VLOAD(lane));
	uint64_t high[PHILOX_LANES], low[PHILOX_LANES];
	uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
	const VEC m0 = VSET(0xd2511f53u), m1 = VSET(0xcd9e8d57u);
	VEC w0 = VSHIFT(block, 16), w1 = VSHIFT(block, 48), w3 = VSET(0);
	VEC w2 = VAND(block, VSET(0xffff));

	for (int round = 0; round < 10; round++) {
		const VEC p0 = VMUL(w0, m0), p1 = VMUL(w2, m1);

		w0 = VXOR(VXOR(VSHIFT(p1, 32), w1), VSET(key0));
		w1 = p1;
		w2 = VXOR(VXOR(VSHIFT(p0, 32), w3), VSET(key1));
		w3 = p0;
		key0 += 0x9e3779b9u;
		key1 += 0xbb67ae85u;
	}
	VSTORE(low, VOR(VAND(w0, VSET(0xffffffff)), VUP(w1)));
	VSTORE(high, VOR(VAND(w2, VSET(0xffffffff)), VUP(w3)));
	for (unsigned i = 0; i < PHILOX_LANES; i++) {
		memcpy(out + 16 * i, &low[i], 8);
		memcpy(out + 16 * i + 8, &high[i], 8);
	}
}

#undef PHILOX_NAME
#undef PHILOX_TARGET
#undef PHILOX_LANES
#undef VEC
#undef VSET
#undef VLOAD
#undef VSTORE
#undef VMUL
#undef VXOR
#undef VOR
#undef VAND
#undef VADD
#undef VSHIFT
#undef VUP
