#!/usr/bin/env bash
# mend plan and mend simulate: published numbers, JSON that parses, plots that are well-formed, exit codes.
set -uo pipefail
command -v python3 >/dev/null || { echo "SKIP: no python3 to read JSON with"; exit 77; }
scratch=$(mktemp -d) || exit 1 # (cd to an empty name would stay here, and here would be removed)
cd "$scratch" || exit 1
trap 'rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; exit 1; }
value() { python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); print(eval(sys.argv[2], {"d": d}))' "$@"; }
near() { python3 -c 'import sys; v,w,t=map(float,sys.argv[1:]); sys.exit(not abs(v-w)<=t)' "$@" || fail "$1 is not $2 within $3"; }
# refused CODE WORDS OPTIONS…: that exit code, one line on stderr with the words, nothing on stdout
refused() {
    local code=$1 words=$2; shift 2
    "$MEND" "$@" >out 2>err
    [ $? = "$code" ] || fail "$*: not exit code $code: $(cat err)"
    grep -qF -- "$words" err || fail "$*: no \"$words\" in: $(cat err)"
    [ ! -s out ] || fail "$*: wrote to stdout"
    [ "$(grep -cv "^Try 'mend" err)" = 1 ] || fail "$*: more than one sentence: $(cat err)"
}

cat >fig3.ini <<'I'
[job]
work = 4000 core-days
speedup = quadratic 0.46 1e5
cores = free
[level 1]
cost = 5 s
recovery = 5 s
failures_total = 0.005 * N
I
sed 's/= 5 s/= 5 s + 0.005 s * N/' fig3.ini >fig3-linear.ini
# the example of the guide, comments and blank lines taken out so that lines can be counted
sed 's/ *;.*//; /^$/d' "$MEND_SOURCE/docs/guide/four-levels.ini" >four.ini

# Figure 3 of the paper through the command
"$MEND" plan fig3.ini --method algorithm1 --json >a.json || fail "figure 3"
near "$(value a.json 'd["cores"]')" 81746.57 0.005
near "$(value a.json 'd["levels"][0]["intervals"]')" 797.0785 0.00005
"$MEND" plan fig3-linear.ini --method algorithm1 --json >a.json || fail "figure 3, linear"
near "$(value a.json 'd["cores"]')" 20214.88 0.005
near "$(value a.json 'd["levels"][0]["intervals"]')" 140.3495 0.00005

# every method: JSON with the promised keys; best is the best
for method in best algorithm1 algorithm1-once daly young; do
    "$MEND" plan four.ini --method $method --json >$method.json || fail "$method"
    [ "$(value $method.json 'd["mend"], d["method"], len(d["levels"]), d["levels"][3]["level"]')" = "(1, '$method', 4, 4)" ] || fail "keys of $method"
    near "$(value $method.json 'sum(d["shares"].values())')" 1 1e-9
    value $method.json 'd["efficiency"], d["iterations"], d["converged"], [(l["period_seconds"], l["share_checkpoint"]) for l in d["levels"]]' >/dev/null || fail "keys of $method"
    near "$(value best.json 'd["expected_seconds"]')" 0 "$(value $method.json 'd["expected_seconds"]')"
done
[ "$(value algorithm1.json 'd["converged"]') $(value algorithm1-once.json 'd["converged"]')" = "True False" ] || fail "converged"
[ "$(value best.json '[l["intervals"] for l in d["levels"]][0]')" = 1 ] || fail "level 1 is not worth it here, and has one interval"
grep -q 'not used' < <("$MEND" plan four.ini) || fail "the table names levels that are not used"
for objective in time core-hours energy; do
    "$MEND" plan four.ini --cores 5e5 --objective $objective --json >o.json || fail "$objective"
    [ "$(value o.json 'd["objective"], d["cores"]')" = "('$objective', 500000)" ] || fail "$objective"
done
# intervals given by hand: the closed form for one level, E = e^(L(A+R))/L ((x-1)(e^(L(w+C))-1) + e^(Lw)-1)
printf '[job]\nwork = 1e6\ncores = 10\nallocation = 60\n[level 1]\ncost = 30\nrecovery = 20\nmtbf = 2 h\n' >one.ini
"$MEND" plan one.ini --intervals 100 --json >o.json || fail "given intervals"
near "$(value o.json 'd["expected_seconds"]')" \
    "$(python3 -c 'from math import *; l=1/7200; w=1000; print(exp(l*80)/l*(99*expm1(l*(w+30))+expm1(l*w)))')" 1e-6

# a plan can be given back: intervals, what is written before what, the last interval
"$MEND" plan four.ini --cores 8e5 --json >o.json || fail "a plan to give back"
given=$(value o.json '",".join(repr(l["intervals"]) + ("+" + "".join(map(str, l["first"])) if l["first"] else "") for l in d["levels"])')
"$MEND" plan four.ini --cores 8e5 --intervals "$given" --json >g.json || fail "a plan given back: $given"
near "$(value g.json 'd["expected_seconds"]')" "$(value o.json 'd["expected_seconds"]')" 1e-3
# what a user found by hand is not better than ours
printf '[job]\nwork = 2e6 core-days\nspeedup = quadratic 0.46 1e6\nmax_cores = 1e6\nrates_at = 1e6\n' >t4.ini
for l in "1 50 16" "2 100 12" "3 200 8" "4 2000 4"; do
    set -- $l
    printf '[level %s]\ncost = %s s\nrecovery = %s s\nfailures_per_day = %s\n' "$1" "$2" $(($2 / 2)) "$3" >>t4.ini
done
"$MEND" plan t4.ini --json >o.json || fail "table IV"
"$MEND" plan t4.ini --cores 600019 --intervals 1,1302,651,102.6 --json >g.json || fail "table IV, given"
near "$(value o.json 'd["expected_seconds"]')" 0 "$(value g.json 'd["expected_seconds"]')"
# failures faster than the first-order formulas allow: there is a plan all the same
printf '[job]\nwork = 1e5 core-hours\ncores = 1000\n[level 1]\ncost = 500 s\nmtbf = 600 s\n' >fast.ini
"$MEND" plan fast.ini --json >o.json || fail "cost 500 s, MTBF 600 s"
near "$(value o.json 'd["expected_seconds"]/86400')" 49.3 0.1
# core-hours with free cores: the fastest with a tenth more than the least, or the least in time
"$MEND" plan t4.ini --objective core-hours --json >o.json || fail "core-hours"
[ "$(value o.json '1000 < d["cores"] and 1.05 < d["core_hours"]/d["least"]["value"] <= 1.1')" = True ] || fail "core-hours: $(cat o.json)"
sed 's/^rates_at/deadline = 60 d\nrates_at/' t4.ini >deadline.ini
"$MEND" plan deadline.ini --objective core-hours --json >o.json || fail "deadline"
near "$(value o.json 'd["expected_seconds"]/86400')" 59.9 0.1
sed -i 's/60 d/60 s/' deadline.ini
refused 1 "no plan meets the deadline" plan deadline.ini
# nodes, and the lines for mend run, which mend run understands
printf '[job]\nwork = 4e6 core-hours\nnodes = 128\ncores_per_node = 64\n[level 1]\nname = partner\ncost = 5\nnode_mtbf = 5 y\n[level 2]\nname = global\ncost = 2 min\nmtbf = 60 d\n' >nodes.ini
"$MEND" plan nodes.ini >text || fail "nodes"
grep -q '(128 nodes)' text && grep -q 'mend run -n 8192 --every [0-9.]*s --levels memory,partner,global:[0-9]*$' text || fail "no line for mend run: $(cat text)"
grep -q 'partner_every = 1$' text && grep -q 'global_every = [0-9]' text && grep -q 'every, work' text || fail "no lines for mend.conf: $(cat text)"
printf '%s\n' "$(sed -n 's/^  //; /^\[flow\]/,/global_every/p' text)" >lines.conf
MEND_CONFIG=lines.conf "$MEND" --version >/dev/null || fail "mend.conf is not understood: $(cat lines.conf)"

# simulation: the exact value inside of 4 standard errors, the same seed the same bytes
"$MEND" simulate four.ini --runs 2000 --seed 5 --json >s.json || fail "simulate"
near "$(value s.json 'd["mean_seconds"]')" "$(value best.json 'd["expected_seconds"]')" "$(value s.json '4*d["standard_error"]')"
near "$(value s.json 'sum(d["shares"].values())')" 1 1e-9
[ "$(value s.json 'd["confidence95"][0] < d["mean_seconds"] < d["confidence95"][1]')" = True ] || fail "confidence"
"$MEND" simulate four.ini --runs 2000 --seed 5 --json | cmp - s.json || fail "one seed, two results"
"$MEND" simulate four.ini --runs 2000 --seed 6 --json | cmp -s - s.json && fail "two seeds, one result"
sed 's/^\[level 1\]/failures = weibull 0.7\njitter = 0.3\n[level 1]/' four.ini >weibull.ini
"$MEND" simulate weibull.ini --runs 200 --json >w.json || fail "weibull"
[ "$(value w.json 'd["failures_from"], d["expected_seconds"]')" = "('weibull 0.7', None)" ] || fail "weibull"
"$MEND" plan weibull.ini >text || fail "plan, weibull"
grep -q 'failures are Weibull, shape 0.7: mean of [0-9]* simulated runs' text || fail "Weibull is not named: $(cat text)"
printf '# seconds level\n3600 1\n5 h 2\n1.5 d 1\n2 d 4\nend 3 d\n' >trace
"$MEND" simulate four.ini --trace trace --runs 100 --json >t.json || fail "trace"
near "$(value t.json 'd["failures"]')" "$(value t.json 'd["mean_seconds"]/86400/3*4*d["cores"]/1e6')" 3

# rates from a record: as if the model had them; a level without failures is named
printf '1 d 1\n2 d 1\n3 d 2\n4 d 1\n5 d 3\n9 d 4\nend 10 d\n' >record
sed -e '/failures_per_day/d' four.ini | awk '/^\[level/{n++; print; print "failures_per_day = " (n == 1 ? 0.3 : 0.1); next} 1' >counted.ini
"$MEND" plan four.ini --from-failures record --json >a.json && "$MEND" plan counted.ini --json >b.json || fail "--from-failures"
near "$(value a.json 'd["expected_seconds"]')" "$(value b.json 'd["expected_seconds"]')" 1
printf '1 d 1\nend 10 d\n' >record
"$MEND" plan four.ini --from-failures record >/dev/null 2>err && [ "$(grep -c 'assuming half a failure' err)" = 3 ] || fail "levels without failures: $(cat err)"
printf '1 d 7\nend 10 d\n' >record; refused 2 "has level 7, the model has 4" plan four.ini --from-failures record
refused 2 "cannot open" plan four.ini --from-failures nowhere

# plots are well-formed XML with their panels
"$MEND" plan four.ini --svg plan.svg >/dev/null || fail "plan --svg"
"$MEND" simulate four.ini --runs 200 --svg sim.svg >/dev/null || fail "simulate --svg"
for f in plan.svg sim.svg; do python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' $f || fail "$f"; done
for words in "Expected time by number of cores" "Where the time goes, by method" "Level 2" "Level 3" "Level 4" "algorithm1-once"; do
    grep -q "$words" plan.svg || fail "no \"$words\" in plan.svg"
done
grep -qi 'nan\|inf"' plan.svg sim.svg && fail "numbers that are none in a plot"

# wrong use and bad input: 2; infeasible: 1 with the value of the sum
sed 's/^cost = 100 s/cost = -100 s/' four.ini >bad.ini; refused 2 "bad.ini:13: cost must not be negative" plan bad.ini
sed '/level/,$d' four.ini >bad.ini; refused 2 "bad.ini:7: there is no section [level 1]" plan bad.ini
sed 's/60 s/60 fortnights/' four.ini >bad.ini; refused 2 "bad.ini:6: allocation: \"fortnights\"" plan bad.ini
sed 's/cores = free/cores = 2e6/' four.ini >bad.ini; refused 2 "bad.ini:4: 2000000 cores are beyond the speedup's peak" plan bad.ini
sed 's/level 3/level 2/' four.ini >bad.ini; refused 2 "bad.ini:16: the section [level 2] began in line 12 already" plan bad.ini
sed 's/level 3/levels 3/' four.ini >bad.ini; refused 2 "bad.ini:16: there is no section" simulate bad.ini
refused 2 "cannot open" plan nowhere.ini
refused 2 "name the model's file" plan
refused 2 "name only one file" plan four.ini four.ini
refused 2 "no method 'magic'" plan four.ini --method magic
refused 2 "needs the method best" plan four.ini --method young --objective energy
refused 2 "--frobnicate" plan four.ini --frobnicate
refused 2 "--runs" plan four.ini --runs 5
refused 2 "--runs" simulate four.ini --runs 0
refused 2 "--seed" simulate four.ini --seed -1
refused 2 "--intervals" plan four.ini --intervals 1,2
refused 2 "--intervals" plan four.ini --cores 5e5 --intervals 1,8+2,4,2
refused 2 "--last" plan four.ini --last 2
sed 's/cost = 50 s/cost = 5e200 s/' four.ini >bad.ini; refused 2 "at most 1e+09 s" plan bad.ini
sed 's/rates_at = 1e6/rates_at = 1e6\nname = x/' four.ini >bad.ini; refused 2 "no key" plan bad.ini
refused 2 "--cores" plan four.ini --intervals 8,4,2,1
refused 2 "four.ini:1: this is not 'TIME LEVEL'" simulate four.ini --trace four.ini
printf '5 7\n' >trace; refused 2 "has level 7 of 4" simulate four.ini --trace trace
sed 's/failures_per_day = 1$/failures_per_day = 200/; s/cores = free/cores = 1e6/' four.ini >bad.ini
refused 1 "= 4.78519 >= 1" plan bad.ini --method algorithm1
refused 1 ">= 1" simulate bad.ini --method young
sed 's/failures_per_day = 1$/failures_per_day = 2e4/; s/cores = free/cores = 1e6/' four.ini >bad.ini
refused 1 "no plan is feasible" plan bad.ini
refused 1 "cannot write" plan four.ini --svg /nonexistent/plot.svg
grep -q Usage < <("$MEND" plan --help) && grep -q Usage < <("$MEND" simulate --help) || fail "help"
echo PASS
