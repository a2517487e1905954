# tileswap: build, test, install.  `make help` lists the targets.

# ---- what a user may set ---------------------------------------------------------------------
CC        ?= cc
NVCC      ?= $(firstword $(wildcard $(CUDA_HOME)/bin/nvcc /usr/local/cuda/bin/nvcc) $(shell command -v nvcc 2>/dev/null))
CUDA      ?= auto# auto: use nvcc if it is there; 1: demand it; 0: build without
CUDA_ARCH ?= 75 80 90 100 120# real GPU targets, Turing to Blackwell (80 serves 8.6 and 8.9); PTX is added for the newest
MPICC     ?= mpicc
MPI       ?= auto# auto: build libtileswap_mpi if $(MPICC) is there; 1: demand it; 0: build without
NCCL      ?= auto# auto: build libtileswap_nccl if CUDA and NCCL (2.19 or later) are there; 1: demand it; 0: build without
NCCL_HOME ?=# where NCCL lies, if not where the toolkit or the compiler looks
PREFIX    ?= /usr/local
LIBDIR    ?= $(PREFIX)/lib
DESTDIR   ?=
BUILD     ?= build
CFLAGS    ?= -O2 -g
LDFLAGS   ?=
SANITIZE  ?=# e.g. address,undefined
OPENMP    ?= 1# 0 builds the host engine single-threaded
V         ?= 0

# ---- derived ---------------------------------------------------------------------------------
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDARY: # objects of the tests are kept, for the next link

version_part = $(shell sed -n 's/^.define TSW_VERSION_$(1) *//p' src/tileswap.h)
MAJOR   := $(call version_part,MAJOR)
VERSION := $(MAJOR).$(call version_part,MINOR).$(call version_part,PATCH)

CUDA := $(strip $(CUDA))
ifeq ($(CUDA),auto)
HAVE_CUDA := $(if $(strip $(NVCC)),1,0)
else ifeq ($(CUDA),1)
ifeq ($(strip $(NVCC)),)
$(error CUDA=1 but no nvcc was found: set NVCC or CUDA_HOME)
endif
HAVE_CUDA := 1
else ifeq ($(CUDA),0)
HAVE_CUDA := 0
else
$(error CUDA = "$(CUDA)": must be auto, 0 or 1)
endif

MPI := $(strip $(MPI))
MPI_FOUND := $(if $(shell command -v $(MPICC) 2>/dev/null),1,0)
ifeq ($(MPI),auto)
HAVE_MPI := $(MPI_FOUND)
else ifeq ($(MPI),1)
ifeq ($(MPI_FOUND),0)
$(error MPI=1 but there is no $(MPICC): set MPICC)
endif
HAVE_MPI := 1
else ifeq ($(MPI),0)
HAVE_MPI := 0
else
$(error MPI = "$(MPI)": must be auto, 0 or 1)
endif

Q := $(if $(filter 0,$(strip $(V))),@)
say = $(if $(filter 0,$(strip $(V))),@printf '  %-6s %s\n' '$(1)' '$(2)')

comma := ,

# Not empty if the compiler is clang.
CLANG    := $(shell $(CC) --version 2>/dev/null | grep -i clang)

WARN     := -Wall -Wextra -Werror -Wno-missing-field-initializers -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef
OMPFLAG  := $(if $(filter 1,$(strip $(OPENMP))),-fopenmp)
SANFLAGS := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer)
BASE_CFLAGS := -std=c11 -D_GNU_SOURCE -DTSW_HAVE_CUDA=$(HAVE_CUDA) $(WARN) $(CFLAGS) $(SANFLAGS) $(OMPFLAG) \
	-fPIC -fvisibility=hidden -fno-math-errno -MMD -MP
BASE_LDFLAGS := $(LDFLAGS) $(SANFLAGS) $(OMPFLAG)
LIBS := -lm -lpthread

ifeq ($(HAVE_CUDA),1)
CUDA_ROOT  ?= $(shell dirname $$(dirname $$(readlink -f $(NVCC))))
CUDA_LIBDIR := $(firstword $(wildcard $(CUDA_ROOT)/lib64 $(CUDA_ROOT)/targets/x86_64-linux/lib $(CUDA_ROOT)/targets/sbsa-linux/lib))
BASE_CFLAGS += -isystem $(CUDA_ROOT)/include
LIBS       += $(CUDA_LIBDIR)/libcudart_static.a -ldl -lrt
# Targets this nvcc does not know (too old or retired) are left out; the newest that is left also
# stays as PTX, for GPUs that come later.
KNOWN_ARCH := $(shell $(NVCC) --list-gpu-arch 2>/dev/null | sed 's/compute_//')
USED_ARCH  := $(filter $(KNOWN_ARCH),$(CUDA_ARCH))
NEWEST     := $(lastword $(USED_ARCH))
GENCODE    := $(foreach a,$(USED_ARCH),-gencode arch=compute_$(a),code=sm_$(a)) \
	-gencode arch=compute_$(NEWEST),code=compute_$(NEWEST)
# No C++ runtime: the host side of a .cu file is launch stubs and tables.
NVCCFLAGS  := -O3 -std=c++17 $(GENCODE) -lineinfo -ccbin g++ \
	-Xcompiler -fPIC,-fvisibility=hidden,-fno-exceptions,-fno-threadsafe-statics,-Wall
endif

# Python packages bring NCCL without the link that -lnccl wants, so the library is named by its path.
NCCL := $(strip $(NCCL))
NCCL_HEADER  := $(firstword $(wildcard $(addsuffix /nccl.h,$(addsuffix /include,$(NCCL_HOME)) $(addsuffix /include,$(CUDA_ROOT)) \
	/usr/include /usr/local/include)))
NCCL_LIBRARY := $(firstword $(wildcard $(foreach d,$(addsuffix /lib,$(NCCL_HOME)) $(CUDA_LIBDIR) $(addsuffix /lib,$(CUDA_ROOT)) \
	/usr/lib/x86_64-linux-gnu /usr/lib/aarch64-linux-gnu /usr/lib64 /usr/local/lib,$(d)/libnccl.so $(d)/libnccl.so.2)))
NCCL_FOUND   := $(if $(and $(filter 1,$(HAVE_CUDA)),$(NCCL_HEADER),$(NCCL_LIBRARY)),1,0)
# 2.19 brought ncclMemAlloc and ncclCommRegister, which tileswap-dist and the tests call.
NCCL_OLD     := $(if $(filter 1,$(NCCL_FOUND)),$(shell awk '$$2 == "NCCL_VERSION_CODE" && $$3 < 21900 { \
	print FILENAME " is of an NCCL before 2.19" }' $(NCCL_HEADER)))
ifeq ($(NCCL),auto)
HAVE_NCCL := $(if $(NCCL_OLD),0,$(NCCL_FOUND))
else ifeq ($(NCCL),1)
ifeq ($(NCCL_FOUND),0)
$(error NCCL=1 but CUDA, nccl.h and libnccl.so were not all found: set NCCL_HOME)
endif
ifneq ($(NCCL_OLD),)
$(error NCCL=1 but $(NCCL_OLD): set NCCL_HOME to a later one)
endif
HAVE_NCCL := 1
else ifeq ($(NCCL),0)
HAVE_NCCL := 0
else
$(error NCCL = "$(NCCL)": must be auto, 0 or 1)
endif
NCCL_FLAGS := $(if $(filter 1,$(HAVE_NCCL)),$(addprefix -isystem ,$(filter-out /usr/include/,$(dir $(NCCL_HEADER)))))

# Objects of different flag sets never mix: each set has a directory of its own.
OBJ := $(BUILD)/obj-$(shell printf '%s' '$(CC) $(CFLAGS) $(LDFLAGS) $(SANITIZE) $(OPENMP) $(HAVE_CUDA) $(NVCC) $(CUDA_ARCH)$(if $(filter 1,$(HAVE_NCCL)), $(NCCL_HEADER))' | cksum | cut -d' ' -f1)

# ---- sources ---------------------------------------------------------------------------------
cuda_c   := $(wildcard src/cuda/*.c)
LIB_C    := $(wildcard src/*.c src/cpu/*.c src/digest/*.c src/dist/*.c src/file/*.c) \
	$(if $(filter 1,$(HAVE_CUDA)),$(filter-out src/cuda/absent.c,$(cuda_c)),src/cuda/absent.c)
LIB_CU   := $(if $(filter 1,$(HAVE_CUDA)),$(filter-out kernels/verify%,$(wildcard kernels/*.cu)))
VERIFY_C  := $(wildcard src/verify/*.c)
VERIFY_CU := $(if $(filter 1,$(HAVE_CUDA)),$(wildcard kernels/verify*.cu))
CLI_C    := $(wildcard src/cli/*.c)
NCCL_C   := $(if $(filter 1,$(HAVE_NCCL)),$(wildcard src/nccl/*.c))
MPI_C    := $(if $(filter 1,$(HAVE_MPI)),$(wildcard src/mpi/*.c))
DIST_C   := $(if $(filter 1,$(HAVE_MPI)),$(wildcard src/cli_dist/*.c) src/cli/json.c src/cli/number.c)
SCALAPACK := $(if $(filter 1,$(HAVE_MPI)),$(firstword $(wildcard /usr/lib/*/libscalapack-openmpi.so /usr/lib/libscalapack-openmpi.so)))
BENCH_C  := $(wildcard bench/*.c bench/peers/*.c)
BENCH_CU := $(if $(filter 1,$(HAVE_CUDA)),$(wildcard bench/*.cu))
TEST_C   := $(wildcard tests/test_*.c)
SUPPORT_C := $(wildcard tests/support/*.c)

objects = $(patsubst %,$(OBJ)/%.o,$(1))
LIB_O    := $(call objects,$(LIB_C) $(LIB_CU))
VERIFY_O := $(call objects,$(VERIFY_C) $(VERIFY_CU))

STATIC := $(BUILD)/libtileswap.a
SHARED := $(BUILD)/libtileswap.so.$(VERSION)
TOOL   := $(BUILD)/tileswap
BENCH  := $(if $(BENCH_C),$(BUILD)/tileswap-bench)
MPI_STATIC := $(if $(MPI_C),$(BUILD)/libtileswap_mpi.a)
MPI_SHARED := $(if $(MPI_C),$(BUILD)/libtileswap_mpi.so.$(VERSION))
DIST       := $(if $(DIST_C),$(BUILD)/tileswap-dist)
NCCL_STATIC := $(if $(NCCL_C),$(BUILD)/libtileswap_nccl.a)
NCCL_SHARED := $(if $(NCCL_C),$(BUILD)/libtileswap_nccl.so.$(VERSION))
NCCL_TESTS  := $(if $(NCCL_C),$(BUILD)/tests/nccl/test_nccl)
# The device suite runs where CUDA was built in; it counts itself as skipped where no GPU is.
TESTS  := $(patsubst tests/%.c,$(BUILD)/tests/%,$(TEST_C))

# ---- building --------------------------------------------------------------------------------
.PHONY: all
all: $(STATIC) $(BUILD)/libtileswap.so $(TOOL) $(BENCH) mpi nccl ## build library, tool and benchmark
	@echo "tileswap $(VERSION): built in $(BUILD)/ $(if $(filter 1,$(HAVE_CUDA)),with CUDA for sm_$(subst $(space),$(comma)sm_,$(strip $(USED_ARCH))),without CUDA$(if $(filter auto,$(CUDA)), (no nvcc found))), $(if $(MPI_C),with MPI,without MPI$(if $(filter auto,$(MPI)), (no $(MPICC) found)))$(if $(NCCL_C),$(comma) with NCCL,$(if $(and $(NCCL_OLD),$(filter auto,$(NCCL))),$(comma) without NCCL ($(NCCL_OLD))))"
empty :=
space := $(empty) $(empty)

# An object also depends on the Makefile: a flag changed there rebuilds it.
$(OBJ)/%.c.o: %.c Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) -c -o $@ $<

$(OBJ)/%.cu.o: %.cu Makefile
	$(call say,NVCC,$<)
	@mkdir -p $(@D)
	$(Q)$(NVCC) $(NVCCFLAGS) -MD -MP -MF $(@:.o=.d) -c -o $@ $<

# The stamp changes when the flag set does, so that the outputs in $(BUILD) follow it.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(OBJ)' | cmp -s - $@ || printf '%s\n' '$(OBJ)' > $@
.PHONY: FORCE
FORCE:

$(STATIC): $(LIB_O) $(BUILD)/flags
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $(LIB_O)

$(SHARED): $(LIB_O) src/libtileswap.map $(BUILD)/flags
	$(call say,LINK,$@)
	$(Q)$(CC) -shared -Wl,-soname,libtileswap.so.$(MAJOR) -Wl,--version-script=src/libtileswap.map \
		-Wl,-z,defs -Wl,--as-needed -o $@ $(LIB_O) $(BASE_LDFLAGS) $(LIBS)

$(BUILD)/libtileswap.so: $(SHARED)
	@ln -sf $(notdir $(SHARED)) $(BUILD)/libtileswap.so.$(MAJOR)
	@ln -sf libtileswap.so.$(MAJOR) $@

$(TOOL): $(call objects,$(CLI_C)) $(VERIFY_O) $(STATIC)
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $(filter %.o,$^) $(STATIC) $(BASE_LDFLAGS) -Wl,--as-needed $(LIBS) -ldl

$(BUILD)/tileswap-bench: $(call objects,$(BENCH_C) $(BENCH_CU)) $(VERIFY_O) $(STATIC)
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $(filter %.o,$^) $(STATIC) $(BASE_LDFLAGS) -Wl,--as-needed $(LIBS) -ldl

# ---- MPI -------------------------------------------------------------------------------------
# Compiled by what mpicc stands for, but with our compiler.
MPI_CC := OMPI_CC='$(CC)' MPICH_CC='$(CC)' $(MPICC)

$(OBJ)/src/mpi/%.c.o $(OBJ)/src/cli_dist/%.c.o $(OBJ)/tests/mpi/%.c.o $(OBJ)/bench/dist/%.c.o: override CC := $(MPI_CC)

.PHONY: mpi
mpi: $(MPI_STATIC) $(if $(MPI_C),$(BUILD)/libtileswap_mpi.so) $(DIST)

$(BUILD)/libtileswap_mpi.a: $(call objects,$(MPI_C)) $(BUILD)/flags
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $(filter %.o,$^)

# What libtileswap.so exports comes from there, the error line before all; what it hides is copied in.
$(MPI_SHARED): $(call objects,$(MPI_C)) $(BUILD)/libtileswap.so $(STATIC) src/libtileswap_mpi.map
	$(call say,LINK,$@)
	$(Q)$(MPI_CC) -shared -Wl,-soname,libtileswap_mpi.so.$(MAJOR) -Wl,--version-script=src/libtileswap_mpi.map \
		-Wl,-z,defs -Wl,--as-needed -o $@ $(filter %.o,$^) $(BUILD)/libtileswap.so $(STATIC) $(BASE_LDFLAGS) $(LIBS)

$(BUILD)/libtileswap_mpi.so: $(MPI_SHARED)
	@ln -sf $(notdir $(MPI_SHARED)) $(BUILD)/libtileswap_mpi.so.$(MAJOR)
	@ln -sf libtileswap_mpi.so.$(MAJOR) $@

$(BUILD)/tileswap-dist: $(call objects,$(DIST_C)) $(VERIFY_O) $(MPI_STATIC) $(NCCL_STATIC) $(STATIC)
	$(call say,LINK,$@)
	$(Q)$(MPI_CC) -o $@ $(filter %.o,$^) $(MPI_STATIC) $(NCCL_STATIC) $(STATIC) $(if $(NCCL_STATIC),$(NCCL_LIBRARY)) $(BASE_LDFLAGS) -Wl,--as-needed $(LIBS) -ldl

# Faults come by way of the linker: MPI's profiling names, and calls that are wrapped.
$(BUILD)/tests/mpi/test_mpi: $(call objects,tests/mpi/test_mpi.c tests/mpi/faults.c) $(MPI_STATIC) $(STATIC)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(MPI_CC) -o $@ $(filter %.o,$^) $(MPI_STATIC) $(STATIC) $(BASE_LDFLAGS) -Wl,--wrap=aligned_alloc $(LIBS)

$(BUILD)/tests/mpi/dist_broken: $(call objects,$(DIST_C) tests/mpi/broken.c) $(VERIFY_O) $(MPI_STATIC) $(NCCL_STATIC) $(STATIC)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(MPI_CC) -o $@ $(filter %.o,$^) $(MPI_STATIC) $(NCCL_STATIC) $(STATIC) $(if $(NCCL_STATIC),$(NCCL_LIBRARY)) $(BASE_LDFLAGS) -Wl,--wrap=tsw_mpi_transpose $(LIBS) -ldl

$(BUILD)/tests/mpi/test_pdtran: $(call objects,tests/mpi/test_pdtran.c) $(MPI_STATIC) $(STATIC)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(MPI_CC) -o $@ $(filter %.o,$^) $(MPI_STATIC) $(STATIC) $(SCALAPACK) $(BASE_LDFLAGS) $(LIBS)

MPI_TESTS := $(if $(MPI_C),$(addprefix $(BUILD)/tests/mpi/,test_mpi dist_broken $(if $(SCALAPACK),test_pdtran)))

# ---- NCCL ------------------------------------------------------------------------------------
$(OBJ)/src/nccl/%.c.o $(OBJ)/tests/nccl/%.c.o: BASE_CFLAGS += $(NCCL_FLAGS)
$(OBJ)/src/cli_dist/%.c.o: BASE_CFLAGS += -DTSW_HAVE_NCCL=$(HAVE_NCCL) $(NCCL_FLAGS)

.PHONY: nccl
nccl: $(NCCL_STATIC) $(if $(NCCL_C),$(BUILD)/libtileswap_nccl.so)

$(BUILD)/libtileswap_nccl.a: $(call objects,$(NCCL_C)) $(BUILD)/flags
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $(filter %.o,$^)

# As libtileswap_mpi.so.
$(NCCL_SHARED): $(call objects,$(NCCL_C)) $(BUILD)/libtileswap.so $(STATIC) src/libtileswap_nccl.map
	$(call say,LINK,$@)
	$(Q)$(CC) -shared -Wl,-soname,libtileswap_nccl.so.$(MAJOR) -Wl,--version-script=src/libtileswap_nccl.map \
		-Wl,-z,defs -Wl,--as-needed -o $@ $(filter %.o,$^) $(BUILD)/libtileswap.so $(STATIC) $(NCCL_LIBRARY) $(BASE_LDFLAGS) $(LIBS)

$(BUILD)/libtileswap_nccl.so: $(NCCL_SHARED)
	@ln -sf $(notdir $(NCCL_SHARED)) $(BUILD)/libtileswap_nccl.so.$(MAJOR)
	@ln -sf libtileswap_nccl.so.$(MAJOR) $@

$(BUILD)/tests/nccl/%: $(OBJ)/tests/nccl/%.c.o $(call objects,$(SUPPORT_C)) $(VERIFY_O) $(NCCL_STATIC) $(STATIC)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -o $@ $(filter %.o,$^) $(NCCL_STATIC) $(STATIC) $(NCCL_LIBRARY) $(BASE_LDFLAGS) $(CHECK_LIBS) $(LIBS) -ldl

# ---- measuring -------------------------------------------------------------------------------
# Peers that are C++ templates become plugins of the benchmark where their headers are installed.
CXX ?= c++
PEER_PLUGINS := $(foreach p,$(if $(wildcard /usr/include/eigen3/Eigen/Core),eigen) \
	$(if $(wildcard /usr/include/armadillo),armadillo),$(BUILD)/peers/$(p).so)

$(BUILD)/peers/%.so: bench/peers/%.cpp Makefile
	$(call say,CXX,$<)
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 -O3 -march=native -DNDEBUG -isystem /usr/include/eigen3 -fPIC -shared -o $@ $<

.PHONY: peers
peers: $(PEER_PLUGINS) ## build what the benchmark compares with, where it is installed

.PHONY: bench
bench: all peers ## measure the full set on every device present (BENCH_FLAGS=--quick: a short one)
	$(Q)BUILD=$(BUILD) bench/run-gpu.sh $(BENCH_FLAGS)
	$(Q)BUILD=$(BUILD) bench/run-cpu.sh $(BENCH_FLAGS)

# bench/dist.sh compares tileswap-dist with ScaLAPACK's pdtran.
$(BUILD)/bench-pdtran: $(call objects,bench/dist/pdtran.c) $(STATIC)
	$(call say,LINK,$@)
	$(Q)$(MPI_CC) -o $@ $(filter %.o,$^) $(STATIC) $(SCALAPACK) $(BASE_LDFLAGS) $(LIBS)

.PHONY: bench-dist
bench-dist: $(DIST) $(if $(SCALAPACK),$(BUILD)/bench-pdtran) ## build what bench/dist.sh compares, where MPI and ScaLAPACK are
	$(if $(SCALAPACK),,$(error bench-dist wants MPI and libscalapack-openmpi-dev))

.PHONY: tables
tables: ## put bench/results/*.jsonl into docs/PERFORMANCE.md
	$(Q)python3 bench/table.py --into docs/PERFORMANCE.md $(sort $(wildcard bench/results/*.jsonl))

.PHONY: plots
plots: ## draw docs/img/*.svg from bench/results/*.jsonl with gnuplot
	$(Q)bench/plots.sh

# ---- tests -----------------------------------------------------------------------------------
# CHECK_LIBS may be set where pkg-config does not know Check.
CHECK_LIBS   ?= $(shell pkg-config --libs check 2>/dev/null || echo -lcheck_pic -lsubunit -lrt -lm -pthread)
CHECK_CFLAGS ?= $(shell pkg-config --cflags check 2>/dev/null)

# Declarations of the CUDA runtime for tests that play it, where CUDA's own are not installed.
FAKE_INCLUDE := $(if $(filter 0,$(HAVE_CUDA)),-isystem tests/fakecuda/include)
$(OBJ)/tests/%.c.o: BASE_CFLAGS += $(CHECK_CFLAGS) -Isrc -Ikernels -Itests/support -Itests/simt -Itests $(FAKE_INCLUDE)
# The kernels' text as C: objects of files of kernels/.
simt_kernels = $(patsubst %,$(OBJ)/tests/simt/kernels/%.c.o,$(1))

$(OBJ)/tests/simt/kernels/%.c.o: kernels/%.cu Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) -include tests/simt/simt.h -x c -c -o $@ $<

# It announces each load and store to tests/simt/trace.c; no ThreadSanitizer is linked.  Not under
# clang, which announces loads that it hoists above the conditions that allow them.
$(OBJ)/tests/simt/kernels/%.c.o $(call objects,tests/simt/verify.c tests/simt/faulty.c): BASE_CFLAGS += $(if $(SANITIZE)$(CLANG),,-fsanitize=thread)

$(BUILD)/tests/%: $(OBJ)/tests/%.c.o $(call objects,$(SUPPORT_C)) $(VERIFY_O) $(STATIC)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -o $@ $(filter %.o,$^) $(STATIC) $(BASE_LDFLAGS) $(CHECK_LIBS) $(LIBS) -ldl

# The kernels' text on the host answers to the names of the device kernels: it is linked into the
# suites that run it and into nothing else, and only the files that they need, which is what
# tests/mutate.sh waits for.
SIMT_O := $(call objects,$(wildcard tests/simt/*.c))
$(filter $(BUILD)/tests/test_simt%,$(TESTS)): $(SIMT_O)
$(BUILD)/tests/test_simt: $(call simt_kernels,direct realigned shifted stream tile33 vector)
$(BUILD)/tests/test_simt_digest: $(call simt_kernels,digest)
$(BUILD)/tests/test_simt_exchange: $(call simt_kernels,exchange)
$(BUILD)/tests/test_simt_imatcopy: $(call simt_kernels,imatcopy shifted stream vector)
# It plays NVML to itself.
$(BUILD)/tests/test_verify: BASE_LDFLAGS += -rdynamic
$(filter $(BUILD)/tests/test_file%,$(TESTS)): $(call objects,$(wildcard tests/crash/*.c))
$(BUILD)/tests/test_multi_order $(BUILD)/tests/test_nccl_order: $(call objects,$(wildcard tests/order/*.c)) $(SIMT_O) \
	$(call simt_kernels,exchange)
$(OBJ)/tests/test_multi_order.c.o $(OBJ)/tests/test_nccl_order.c.o $(OBJ)/tests/order/%.c.o: BASE_CFLAGS += -Itests \
	$(if $(filter 0,$(HAVE_CUDA)),-Itests/order/cuda) $(if $(filter 0,$(HAVE_NCCL)),-Itests/order/nccl,$(NCCL_FLAGS))

$(BUILD)/tests/soak: $(call objects,$(wildcard tests/soak/*.c))

# The fuzz targets look into the tool as well, and take its complaints for themselves.
FUZZ_O := $(call objects,$(filter-out tests/fuzz/entry.c,$(wildcard tests/fuzz/*.c)) $(wildcard tests/crash/*.c) \
	$(filter-out src/cli/main.c,$(CLI_C)))
FUZZ_LDFLAGS := -Wl,--wrap=complain
$(BUILD)/tests/test_corpus: $(FUZZ_O)
$(BUILD)/tests/test_corpus: BASE_LDFLAGS += $(FUZZ_LDFLAGS)

# The device engine on a fake of the CUDA runtime (tests/fakecuda): the same sources in every build,
# compiled as where CUDA is built in.
FAKED_C      := src/cuda/checksum.c src/cuda/runtime.c src/cuda/transpose.c $(VERIFY_C)

$(OBJ)/faked/%.c.o: %.c Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) -UTSW_HAVE_CUDA -DTSW_HAVE_CUDA=1 $(FAKE_INCLUDE) -c -o $@ $<

$(BUILD)/tests/test_cuda_faults: $(call objects,tests/test_cuda_faults.c $(SUPPORT_C) $(wildcard tests/fakecuda/*.c)) $(SIMT_O) \
		$(call simt_kernels,digest direct exchange imatcopy realigned shifted stream tile33 vector) \
		$(FAKED_C:%=$(OBJ)/faked/%.o) $(STATIC)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -o $@ $(filter %.o,$^) $(STATIC) $(BASE_LDFLAGS) $(CHECK_LIBS) -lm -lpthread -ldl

# What test_device_memory counts.
COUNTED := cudaMalloc cudaMallocAsync cudaMallocFromPoolAsync cudaMallocManaged cudaMallocHost cudaHostAlloc \
	cudaHostRegister cudaMallocPitch cudaFree cudaFreeAsync cudaFreeHost cudaStreamCreate \
	cudaStreamCreateWithFlags cudaStreamCreateWithPriority cudaEventCreate cudaEventCreateWithFlags \
	cudaDeviceSynchronize cudaStreamSynchronize cudaEventSynchronize
$(BUILD)/tests/test_device_memory: BASE_LDFLAGS += $(COUNTED:%=-Wl,--wrap=%)

.PHONY: tests
tests: $(TESTS) $(MPI_TESTS) $(NCCL_TESTS) all ## build the test programs

.PHONY: check
check: tests ## run every test and the stress rounds (REQUIRE_GPU=1: a GPU is demanded)
	$(Q)TILESWAP=$(abspath $(TOOL)) BUILD=$(abspath $(BUILD)) tests/check.sh $(TESTS) $(NCCL_TESTS) $(wildcard tests/*/run.sh)

.PHONY: check-sanitize
check-sanitize: ## the tests again under AddressSanitizer and UndefinedBehaviorSanitizer
	+$(Q)$(MAKE) check CUDA=0 BUILD=$(BUILD)/sanitize SANITIZE=address,undefined CFLAGS='-O1 -g'

TSAN_SUITES := test_properties test_imatcopy test_digest test_file

.PHONY: check-tsan
check-tsan: ## the host side under ThreadSanitizer, by clang and LLVM's OpenMP; seeded races must show (QUICK=1: not)
	+$(Q)$(MAKE) $(addprefix $(BUILD)/tsan/tests/,$(TSAN_SUITES)) CUDA=0 OPENMP=1 BUILD=$(BUILD)/tsan \
		CC=$(or $(TSAN_CLANG),clang) SANITIZE=thread CFLAGS='-O1 -g'
	$(Q)tests/tsan.sh $(BUILD)/tsan $(TSAN_SUITES)

.PHONY: soak
soak: $(BUILD)/tests/soak ## host calls from many threads for SECONDS (600), memory watched (SOAK_FLAGS=--device: a GPU)
	$(Q)$(BUILD)/tests/soak --seconds $(or $(SECONDS),600) $(SOAK_FLAGS)

# clang's sanitizers take minutes for the unrolled kernels, and ThreadSanitizer does not see their
# accesses anyhow: the plain ones are run (tests/fuzz.sh, tests/tsan.sh).
ifneq (,$(findstring fuzzer,$(SANITIZE))$(filter thread,$(SANITIZE)))
$(OBJ)/src/cpu/kernels_avx%.c.o: BASE_CFLAGS := $(filter-out -fsanitize=%,$(BASE_CFLAGS))
$(OBJ)/src/cpu/kernels_c.c.o: BASE_CFLAGS := $(subst fuzzer-no-link$(comma)address$(comma)undefined,address,$(BASE_CFLAGS))
endif

# One program for all targets: TSW_FUZZ names one.
$(BUILD)/fuzzer: $(FUZZ_O) $(call objects,tests/fuzz/entry.c $(SUPPORT_C)) $(VERIFY_O) $(STATIC)
	$(call say,LINK,$@)
	$(Q)$(CC) -fsanitize=fuzzer -o $@ $(filter %.o,$^) $(STATIC) $(BASE_LDFLAGS) $(FUZZ_LDFLAGS) $(CHECK_LIBS) $(LIBS) -ldl

.PHONY: fuzz
fuzz: ## every fuzz target for SECONDS (60) from SEED (a new one), by clang's libFuzzer and sanitizers (FUZZ_CLANG)
	+$(Q)$(MAKE) $(BUILD)/fuzz/fuzzer CUDA=0 OPENMP=0 BUILD=$(BUILD)/fuzz CC=$(or $(FUZZ_CLANG),clang) \
		SANITIZE=fuzzer-no-link,address,undefined CFLAGS='-O1 -g'
	$(Q)SEED=$(or $(SEED),0) tests/fuzz.sh $(BUILD)/fuzz $(or $(SECONDS),60) $(TARGETS)

.PHONY: check-mutants
check-mutants: ## seed faults in a copy of the tree; every one must turn a suite red
	$(Q)tests/mutate.sh

.PHONY: check-neon
check-neon: ## the host suites on NEON, cross-compiled and run by qemu-aarch64
	+$(Q)BUILD=$(BUILD) MAKE='$(MAKE)' tests/neon.sh

.PHONY: check-code
check-code: $(STATIC) ## the machine code of the host kernels: what they load, store and spill
	$(Q)tests/machine_code.py --cc '$(CC)' $$(ls $(OBJ)/src/cpu/kernels_*.c.o)

.PHONY: check-install
check-install: all ## install into a scratch directory, build consumers, uninstall
	$(Q)BUILD=$(BUILD) MAKE='$(MAKE)' CC='$(CC)' tests/install.sh

.PHONY: stress
stress: $(TOOL) ## one minute of stress on every device present (STRESS_SECONDS)
	$(Q)$(TOOL) stress --device all --seconds $(or $(STRESS_SECONDS),60)

.PHONY: demo
demo: $(TOOL) ## transpose a real .npy file, verify it, and run a round of stress
	$(Q)TILESWAP=$(abspath $(TOOL)) docs/demo.sh

# ---- housekeeping ----------------------------------------------------------------------------
.PHONY: deps
deps: ## install what building and testing needs, by apt (DEV=1: linters and cross tools too)
	$(Q)DEV=$(DEV) tests/deps.sh

FORMATTED = $(wildcard src/*.[ch] src/*/*.[ch] kernels/*.h kernels/*.cuh kernels/*.cu bench/*.[ch] bench/dist/*.c bench/*.cu tests/*.[ch] tests/*/*.[ch])

.PHONY: format
format: ## rewrite the sources by clang-format
	$(Q)clang-format -i $(FORMATTED)

.PHONY: lint
lint: ## clang-format in check mode, cppcheck, shellcheck; is src/third_party as its authors made it?
	$(Q)clang-format --dry-run -Werror $(FORMATTED)
	$(Q)cppcheck --quiet --std=c11 --enable=warning,performance,portability --error-exitcode=1 \
		--inline-suppr --suppress=missingIncludeSystem --suppress=uninitvar:src/cpu/finish.inc -DTSW_HAVE_CUDA=0 -D__GNUC__=12 -Isrc -Ikernels \
		$(filter-out src/cuda/%,$(LIB_C)) src/cuda/absent.c $(VERIFY_C) $(CLI_C) $(wildcard src/mpi/*.c src/cli_dist/*.c)
	$(Q)shellcheck $(wildcard tests/*.sh tests/*/*.sh bench/*.sh docs/*.sh .ci/run)
	$(Q)cd src/third_party && sha256sum --check --quiet SHA256SUMS

# ---- documents made from the header ----------------------------------------------------------
# In the order of their names; all of them, whatever this build has.
API_HEADERS := $(notdir $(basename $(wildcard src/tileswap.h src/tileswap_*.h)))

.PHONY: api api-text
api: ## rewrite docs/API.md from the headers
	$(Q)$(MAKE) --no-print-directory -s api-text > docs/API.md

api-text:
	@$(foreach h,$(API_HEADERS),awk -v out=md -v header=$h -f docs/api.awk src/$h.h &&) true

# ---- installing ------------------------------------------------------------------------------
INSTALL  := install
HEADERS  := $(filter-out $(if $(MPI_C),,src/tileswap_mpi.h) $(if $(NCCL_C),,src/tileswap_nccl.h), \
	$(wildcard src/tileswap.h src/tileswap.hpp src/tileswap_*.h src/fortran/tileswap.f90))
CMAKEDIR := $(LIBDIR)/cmake/tileswap
# What install and uninstall do for the MPI and NCCL libraries: nothing without them.
MPI_FILES := $(if $(MPI_C),$(notdir $(MPI_STATIC)) libtileswap_mpi.so libtileswap_mpi.so.$(MAJOR) $(notdir $(MPI_SHARED)))
NCCL_FILES := $(if $(NCCL_C),$(notdir $(NCCL_STATIC)) libtileswap_nccl.so libtileswap_nccl.so.$(MAJOR) $(notdir $(NCCL_SHARED)))

# Text files, laid out under $(MADE)/lib and $(MADE)/share as they come to lie under $(LIBDIR) and
# $(PREFIX)/share: install and uninstall walk the same tree.  Made anew each time, since PREFIX may
# differ from the last one.
MADE  := $(BUILD)/made
STATIC_NEEDS := $(LIBS) $(OMPFLAG)
fill = sed -e 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|; s|@MAJOR@|$(MAJOR)|' \
	-e 's|@PRIVATE@|$(subst $(CUDA_LIBDIR)/libcudart_static.a,-L$(CUDA_LIBDIR) -lcudart_static,$(STATIC_NEEDS))|' \
	-e 's|@PRIVATE_LIST@|$(subst $(space),;,$(strip $(STATIC_NEEDS)))|' \
	-e "s|@INCLUDE_FROM_CMAKE@|$$(realpath -m --relative-to='$(CMAKEDIR)' '$(PREFIX)/include')|"

# Blanks may be in a place; what a shell, sed or a .pc file would read as its own may not.
hash := \#
odd_in_places = $(strip $(foreach c,' " \ | & ; ` $$ $(hash),$(findstring $c,$(PREFIX)$(LIBDIR))))
check_places = $(if $(odd_in_places),$(error PREFIX and LIBDIR must do without $(odd_in_places))) \
	$(if $(PREFIX),$(if $(filter /%,$(firstword $(PREFIX))),,$(error PREFIX = "$(PREFIX)" must begin with /))) \
	$(if $(filter /%,$(firstword $(LIBDIR))),,$(error LIBDIR = "$(LIBDIR)" must begin with /))

.PHONY: made
made:
	$(check_places)
	$(Q)rm -rf $(MADE)
	$(Q)mkdir -p $(MADE)/lib/pkgconfig $(MADE)/lib/cmake/tileswap $(MADE)/share/man/man1 $(MADE)/share/man/man3 \
		$(MADE)/share/bash-completion/completions $(MADE)/share/zsh/site-functions $(MADE)/share/fish/vendor_completions.d \
		$(MADE)/share/doc/tileswap
	$(Q)$(fill) src/tileswap.pc.in > $(MADE)/lib/pkgconfig/tileswap.pc
	$(if $(MPI_C),$(Q)$(fill) src/tileswap_mpi.pc.in > $(MADE)/lib/pkgconfig/tileswap_mpi.pc)
	$(if $(NCCL_C),$(Q)$(fill) src/tileswap_nccl.pc.in > $(MADE)/lib/pkgconfig/tileswap_nccl.pc)
	$(Q)$(fill) src/cmake/tileswap-config.cmake.in > $(MADE)/lib/cmake/tileswap/tileswap-config.cmake
	$(Q)$(fill) src/cmake/tileswap-config-version.cmake.in > $(MADE)/lib/cmake/tileswap/tileswap-config-version.cmake
	$(Q)cp docs/tileswap.1 $(if $(MPI_C),docs/tileswap-dist.1) $(MADE)/share/man/man1/
	$(Q)$(foreach h,$(notdir $(basename $(filter %.h,$(HEADERS)))),awk -v out=man -v header=$h -v dir=$(MADE)/share/man/man3 \
		-v version=$(VERSION) -f docs/api.awk src/$h.h &&) true
	$(Q)cp src/completions/tileswap.bash $(MADE)/share/bash-completion/completions/tileswap
	$(Q)cp src/completions/tileswap.zsh $(MADE)/share/zsh/site-functions/_tileswap
	$(Q)cp src/completions/tileswap.fish $(MADE)/share/fish/vendor_completions.d/tileswap.fish
	$(Q)(cat LICENSE; echo; echo 'Of xxHash, which is part of the library:'; echo; \
		sed '/\*\//q' src/third_party/xxhash/xxhash.h) > $(MADE)/share/doc/tileswap/LICENSE

.PHONY: install
install: all made ## install under $(DESTDIR)$(PREFIX)
	$(Q)$(INSTALL) -D -m 755 -t "$(DESTDIR)$(PREFIX)/bin" $(TOOL)
	$(Q)$(INSTALL) -D -m 644 -t "$(DESTDIR)$(PREFIX)/include" $(HEADERS)
	$(Q)$(INSTALL) -D -m 644 -t "$(DESTDIR)$(LIBDIR)" $(STATIC)
	$(Q)$(INSTALL) -D -m 755 -t "$(DESTDIR)$(LIBDIR)" $(SHARED)
	$(Q)ln -sf $(notdir $(SHARED)) "$(DESTDIR)$(LIBDIR)/libtileswap.so.$(MAJOR)"
	$(Q)ln -sf libtileswap.so.$(MAJOR) "$(DESTDIR)$(LIBDIR)/libtileswap.so"
	$(if $(MPI_C),$(Q)$(INSTALL) -D -m 755 -t "$(DESTDIR)$(PREFIX)/bin" $(DIST))
	$(if $(MPI_C),$(Q)$(INSTALL) -D -m 644 -t "$(DESTDIR)$(LIBDIR)" $(MPI_STATIC))
	$(if $(MPI_C),$(Q)$(INSTALL) -D -m 755 -t "$(DESTDIR)$(LIBDIR)" $(MPI_SHARED))
	$(if $(MPI_C),$(Q)ln -sf $(notdir $(MPI_SHARED)) "$(DESTDIR)$(LIBDIR)/libtileswap_mpi.so.$(MAJOR)")
	$(if $(MPI_C),$(Q)ln -sf libtileswap_mpi.so.$(MAJOR) "$(DESTDIR)$(LIBDIR)/libtileswap_mpi.so")
	$(if $(NCCL_C),$(Q)$(INSTALL) -D -m 644 -t "$(DESTDIR)$(LIBDIR)" $(NCCL_STATIC))
	$(if $(NCCL_C),$(Q)$(INSTALL) -D -m 755 -t "$(DESTDIR)$(LIBDIR)" $(NCCL_SHARED))
	$(if $(NCCL_C),$(Q)ln -sf $(notdir $(NCCL_SHARED)) "$(DESTDIR)$(LIBDIR)/libtileswap_nccl.so.$(MAJOR)")
	$(if $(NCCL_C),$(Q)ln -sf libtileswap_nccl.so.$(MAJOR) "$(DESTDIR)$(LIBDIR)/libtileswap_nccl.so")
	$(Q)(cd $(MADE)/lib && find . -type f) | while read -r f; do $(INSTALL) -D -m 644 "$(MADE)/lib/$$f" "$(DESTDIR)$(LIBDIR)/$$f" || exit; done
	$(Q)(cd $(MADE)/share && find . -type f) | while read -r f; do $(INSTALL) -D -m 644 "$(MADE)/share/$$f" "$(DESTDIR)$(PREFIX)/share/$$f" || exit; done

.PHONY: uninstall
uninstall: made ## remove what install put there
	$(Q)rm -f "$(DESTDIR)$(PREFIX)/bin/tileswap" $(if $(MPI_C),"$(DESTDIR)$(PREFIX)/bin/tileswap-dist") \
		$(foreach h,$(notdir $(HEADERS)),"$(DESTDIR)$(PREFIX)/include/$h") \
		$(foreach l,libtileswap.a libtileswap.so libtileswap.so.$(MAJOR) libtileswap.so.$(VERSION) $(MPI_FILES) $(NCCL_FILES),"$(DESTDIR)$(LIBDIR)/$l")
	$(Q)(cd $(MADE)/lib && find . -type f) | while read -r f; do rm -f "$(DESTDIR)$(LIBDIR)/$$f"; done
	$(Q)(cd $(MADE)/share && find . -type f) | while read -r f; do rm -f "$(DESTDIR)$(PREFIX)/share/$$f"; done
	$(Q)rmdir "$(DESTDIR)$(CMAKEDIR)" "$(DESTDIR)$(PREFIX)/share/doc/tileswap" 2>/dev/null || true

.PHONY: clean
clean: ## remove $(BUILD)
	$(Q)rm -rf $(BUILD)

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 20
	@echo 'Variables: CC NVCC CUDA=auto|0|1 CUDA_ARCH MPICC MPI=auto|0|1 NCCL=auto|0|1 NCCL_HOME PREFIX LIBDIR DESTDIR BUILD CFLAGS SANITIZE OPENMP V=1'

-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)
