# The one command surface. `make` alone lists what there is.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help up test check bench testbed setup clean

help: ## List the commands
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

up: ## Build Evenkeel and run all of it on this machine
	@scripts/setup build
	cargo run --quiet --package evenkeel -- up $(ARGS)

test: ## Install what is needed, run every check and every test, print a summary
	@scripts/stages setup format lint docs licences undeclared testbed tests schemathesis

check: ## Format, clippy, rustdoc, licences, undeclared files
	@scripts/stages format lint docs licences undeclared

testbed: ## Build the real Kubernetes control plane into the cache (once)
	@scripts/stages testbed

bench: ## Run the benchmarks (BENCH=name for one) and print their tables
	@scripts/bench $(BENCH)

setup: ## Install what building and testing need
	@scripts/setup all

clean: ## Remove what was built in this checkout (the cache outside it stays)
	cargo clean
