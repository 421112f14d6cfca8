#!/bin/bash -eu
# Builds the fuzz targets as OSS-Fuzz wants them: programs, their corpus, dictionary and options in $OUT.
cd "$SRC/nettrace/parser/fuzz"
cargo fuzz build --fuzz-dir . -O --debug-assertions

programs=target/x86_64-unknown-linux-gnu/release
# `program target`: a program with several is started by a link with the target's name.
targets=$(
    echo ipc ipc
    for program in parser commands; do
        sed -n "s/^    (\"\([a-z]*\)\",.*/$program \1/p" "fuzz_targets/$program.rs"
    done
)
while read -r program target; do
    cp "$programs/$program" "$OUT/$target"
    cp nettrace.dict "$OUT/$target.dict"
    printf '[libfuzzer]\nmax_len = 65536\ntimeout = 10\nrss_limit_mb = 2048\n' >"$OUT/$target.options"
    # The corpus is an archive of files for each target; OSS-Fuzz takes zip. A target without one begins with nothing.
    seeds=$(mktemp -d)
    if [ -f "corpus/$target.tar.gz" ]; then
        tar -xzf "corpus/$target.tar.gz" -C "$seeds"
    fi
    if [ -d "found/$target" ]; then
        cp "found/$target"/* "$seeds/"
    fi
    find "$seeds" -type f -exec zip -qj "$OUT/${target}_seed_corpus.zip" {} +
    rm -r "$seeds"
done <<<"$targets"
