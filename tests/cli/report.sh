#!/usr/bin/env bash
# mend report: every section is there, with the figures of a known job; nothing from the network; text is
# escaped; a real browser shows it on a desktop and on a phone (skipped in words without one).
set -uo pipefail
scratch=$(mktemp -d) || exit 1 # (cd to an empty name would stay here, and here would be removed)
cd "$scratch" || exit 1
watcher=
trap '[ -n "$watcher" ] && kill "$watcher" 2>/dev/null; rm -rf "$scratch"' EXIT
fail() { echo "FAIL: $*"; exit 1; }
mkdir job
cat >job/job.json <<'E'
{"mend":1,"state":"done","ranks":3,"spares":1,"mpi":"openmpi","online":true,"every":2.0,"auto":false,"program":["./heat","-m","<b>4</b>"]}
E
{
    echo '{"mend":1,"t":1000.0,"rank":-1,"event":"run.launch","launch":0,"ranks":3,"spares":1,"mpi":"openmpi"}'
    for v in 1 2 3 4; do for r in 0 1 2; do
        echo "{\"mend\":1,\"t\":100$((2 * v)).5,\"rank\":$r,\"event\":\"checkpoint.commit\",\"version\":$v,\"level\":\"memory\",\"bytes\":1048576,\"seconds\":0.25}"
    done; done | sed 's/1008/1008/'
    echo '{"mend":1,"t":1004.6,"rank":0,"event":"checkpoint.commit","version":2,"level":"global","bytes":1048576,"seconds":0.1}'
    echo '{"mend":1,"t":1005.0,"rank":-1,"event":"chaos.fault","kind":"kill","hit":"rank 1 (pid 7)","result":"killed"}'
    echo '{"mend":1,"t":1005.1,"rank":0,"event":"recover.noticed","how":"failure","call":"Allreduce"}'
    for r in 0 1 2; do
        echo "{\"mend\":1,\"t\":1005.4,\"rank\":$r,\"event\":\"recover.resumed\",\"how\":\"resumed\",\"version\":2,\"repair\":1,\"seconds\":0.3,\"phases\":\"revoke=1.0 shrink=20.5 images=100 load=150 agree=28.5\"}"
    done
    for pid in 7 8; do echo "{\"mend\":1,\"t\":1005.$((pid - 5)),\"rank\":1,\"event\":\"recover.playing\",\"version\":2,\"pid\":$pid,\"host\":\"node$((pid - 6))<\",\"spares\":0}"; done
    echo '{"mend":1,"t":1005.05,"rank":-1,"event":"launch.lost","host":"node1<","processes":1,"how":"silence"}'
    echo '{"mend":1,"t":1007.0,"rank":0,"event":"checkpoint.given_up","round":3,"why":"rank 2 could not be stopped"}'
    echo 'this line is damaged'
    echo '{"mend":1,"t":1010.0,"rank":-1,"event":"run.end","code":0,"seconds":10}'
} >job/events.jsonl

"$MEND" report job -o page.html || fail "report"
for section in summary timeline time cores recoveries versions costs hindsight failures files; do
    grep -q "<section id='$section'>" page.html || fail "section $section is missing"
done
grep -q '&lt;b&gt;4&lt;/b&gt;' page.html || fail "the program's name is not escaped"
grep -Eiq 'src=|<script|https?://' page.html && fail "the page is not self-contained"
for fact in 'shrink 20.50 ms' 'load 150.00 ms' '<b>4</b><span>versions' '<b>300 ms</b>' '1 checkpoint was given up' '1 lines could not be read' \
    'rank 1 (pid 7): killed' 'rank 1: process 7 on node1&lt; is gone, process 8 on node2&lt; replaces it' 'noticed in MPI_Allreduce' \
    'node node1&lt; is lost, with 1 processes: silence' 'rank 1 on node2&lt;</title>' '<b>shrink</b> all arrive' \
    'The job has succeeded. It survived 1 failure in place, which cost 800 ms with the work done again; to begin again each time would have cost' "<svg viewBox='0 0 1000" '1.0 MiB</td><td>1.0 MiB</td><td>250 ms</td><td>4.0 MiB/s'; do
    grep -qF "$fact" page.html || fail "not in the page: $fact"
done
# links to the job's files, wherever the page is; none to what is not there
mkdir job/output
"$MEND" report job || fail "report into the folder"
grep -qF "<a href='output/'>" job/report.html && grep -qF "<a href='events.jsonl'>" job/report.html || fail "no links to files beside the page"
grep -qF "<a href='run.out'>" job/report.html && fail "a link to a file that is not there"
grep -qF "<a href='$PWD/job/job.json'>" page.html || fail "no links to files elsewhere: $(grep -o '<a href[^>]*' page.html)"
"$MEND" report job -o - | grep -q '<a href' && fail "links from nowhere"
rm -r job/output job/report.html
# 1 failure in 10 s, 0.25 s a version, 2.5 s between versions: the best is near sqrt(2 * 0.25 * 10) s
best=$(grep -o '<tr><td>memory</td><td>4</td><td>2.5 s</td><td>[0-9.]* s' page.html | tail -1 | grep -o '[0-9.]* s$' | cut -d' ' -f1)
awk -v b="${best:-0}" 'BEGIN{exit !(b > 1.2 && b < 4)}' || fail "with hindsight: every '$best' s"
[ "$(grep -o "class='recover' x=" page.html | wc -l)" -ge 3 ] || fail "recoveries of 3 ranks are not in the timeline"
"$MEND" report --json job >sums || fail "--json"
grep -q '"versions":4,"recoveries":1,"saving":1.000000,"recovering":0.300000' sums || fail "sums: $(cat sums)"
# 3 ranks and 1 spare for 10 s are 40 s of cores: 1 s of saving, 0.3 s of recovery and 0.5 s of work again (version 2 to
# 1005.1) are overhead of 3 ranks, the spare waits for 10 s. By the failure, 5.1 s less 2 versions of work were done.
hours() { awk -v s="$1" 'BEGIN{printf "%.9f", s / 3600}'; }
want="\"core_hours\":{\"paid\":$(hours 40),\"worked\":$(hours 24.6),\"lost\":$(hours 5.4),\"ready\":$(hours 10),\"again\":$(hours 13.8),\"saved\":$(hours 11.4)}"
grep -qF "$want" sums || fail "core-hours: $(cat sums), not $want"
grep -qF '<tr><td>useful work</td><td>0.006833</td>' page.html || fail "core-hours are not on the page"
"$MEND" report 2>/dev/null; [ $? = 2 ] || fail "no folder is wrong use"
"$MEND" report nowhere 2>/dev/null; [ $? = 1 ] || fail "a missing folder"
mkdir empty; : >empty/events.jsonl; "$MEND" report empty 2>/dev/null; [ $? = 1 ] || fail "no events"

# torn down and launched again: no work in between, a death has its own time, and what was survived so is listed
mkdir torn
{
    echo '{"mend":1,"t":1000.0,"rank":-1,"event":"run.launch","launch":0,"ranks":2,"spares":1,"mpi":"openmpi"}'
    echo '{"mend":1,"t":1000.5,"rank":1,"event":"recover.playing","version":0,"pid":7}'
    echo '{"mend":1,"t":1002.0,"rank":0,"event":"checkpoint.commit","version":1,"level":"memory","bytes":1048576,"seconds":0.25}'
    echo '{"mend":1,"t":1003.0,"rank":-1,"event":"chaos.fault","kind":"kill","hit":"rank 1 (pid 7)","result":"killed"}'
    echo '{"mend":1,"t":1003.4,"rank":1,"event":"recover.playing","version":1,"pid":8}'
    for r in 0 1; do echo "{\"mend\":1,\"t\":1003.5,\"rank\":$r,\"event\":\"recover.resumed\",\"how\":\"resumed\",\"version\":1,\"repair\":1,\"seconds\":0.3,\"phases\":\"load=150\"}"; done
    echo '{"mend":1,"t":1004.0,"rank":-1,"event":"run.torn_down","version":1}'
    echo '{"mend":1,"t":1006.0,"rank":-1,"event":"run.launch","launch":1,"ranks":2,"spares":1,"mpi":"openmpi"}'
    echo '{"mend":1,"t":1006.5,"rank":0,"event":"restart","version":1,"ranks":2}'
    echo '{"mend":1,"t":1010.0,"rank":-1,"event":"run.end","code":0,"seconds":10}'
} >torn/events.jsonl
"$MEND" report torn -o torn.html && "$MEND" report --json torn >sums || fail "a job that was torn down"
for fact in "<b>1</b><span>failure survived by relaunch" 'the job was torn down; relaunched, it works again from version 1 2.5 s later' \
    'rank 1: process 7 is gone, process 8 replaces it 400 ms later' "<rect class='down'" \
    'It survived 1 failure in place and 1 by relaunch, which cost' 'torn down, until the next launch works</td><td>2.5 s'; do
    grep -qF "$fact" torn.html || fail "not in the page of a job that was torn down: $fact"
done
grep -q '"launches":2,"relaunches":1,"down":2.500000' sums || fail "sums: $(cat sums)"
# 2 ranks: 3.2 - 0.25 s of work by the first failure, of which 1.2 s are done again and 0.3 s pass; by the second, at
# 4.0 s, 4.0 - 0.25 - 1.5 s of work, of which 2 s are done again and 2.5 s pass: it saved less than nothing
grep -qF "\"again\":$(hours 10.4),\"saved\":$(hours -1.6)" sums || fail "core-hours: $(cat sums)"

# a job that relaunches: one event stands for all ranks, and the program waited for its pause
mkdir relaunch
{
    echo '{"mend":1,"t":1000.0,"rank":-1,"event":"run.launch","launch":0,"ranks":2,"spares":0,"mpi":"mpich"}'
    for r in 0 1; do echo "{\"mend\":1,\"t\":1000.1,\"rank\":$r,\"event\":\"recover.born\",\"pid\":2$r,\"host\":\"n$r\"}"; done
    for v in 1 2; do echo "{\"mend\":1,\"t\":100$((3 * v)).0,\"rank\":0,\"event\":\"checkpoint.commit\",\"version\":$v,\"bytes\":4194304,\"ranks\":2,\"pause\":0.5,\"seconds\":0.75}"; done
    echo '{"mend":1,"t":1006.2,"rank":0,"event":"checkpoint.commit","version":1,"level":"global","ranks":2}'
    echo '{"mend":1,"t":1010.0,"rank":-1,"event":"run.end","code":0,"seconds":10}'
} >relaunch/events.jsonl
"$MEND" report relaunch -o relaunch.html && "$MEND" report --json relaunch >sums || fail "a job that relaunches"
grep -q '"versions":2,"recoveries":0,"saving":1.000000' sums || fail "a job that relaunches: $(cat sums)"
for fact in '<b>2</b><span>versions' '<b>2.0 MiB</b>' 'Nothing failed. Checkpoints took 10 % of the time' 'rank 1 on n1</title>' 'all ranks: version 2'; do
    grep -qF "$fact" relaunch.html || fail "not in the page of a job that relaunches: $fact"
done

# whoever wrote the folder: no tag of theirs on the page, no number makes it large or endless
mkdir foreign
sed -e 's/"mpi":"openmpi"/"mpi":"<script>"/' -e 's/"how":"resumed"/"how":"<img>"/' -e 's/shrink=/<svg>=/' job/events.jsonl >foreign/events.jsonl
echo '{"mend":1,"t":1006.0,"rank":2147483646,"event":"recover.playing","pid":7}' >>foreign/events.jsonl
echo '{"mend":1,"t":1e-320,"rank":0,"event":"plan.interval","seconds":-1e300}' >>foreign/events.jsonl
"$MEND" report foreign -o foreign.html || fail "a foreign folder"
grep -qE '<script|<img|<svg>' foreign.html && fail "tags of the folder are on the page"
grep -q '3 lines could not be read' foreign.html || fail "numbers that no job has are believed"
[ "$(stat -c %s foreign.html)" -lt 200000 ] || fail "the page is large"

# --watch: the page is written again with new events, and asks to be loaded again only while the job runs
"$MEND" report job --watch --json 2>/dev/null; [ $? = 2 ] || fail "--watch --json is wrong use"
timeout 60 "$MEND" report --watch nowhere 2>/dev/null; [ $? = 1 ] || fail "--watch of a missing folder"
grep -q "http-equiv='refresh'" page.html && fail "a page that nobody writes again asks to be loaded again"
mkdir live
sed 's/"done"/"running"/' job/job.json >live/job.json
grep -v run.end job/events.jsonl >live/events.jsonl
"$MEND" report --watch live -o live.html & watcher=$!
written() { # TEXT: now, or after a while
    for _ in $(seq 300); do grep -qF "$1" live.html 2>/dev/null && return; sleep 0.1; done
    fail "the page never has: $1"
}
written "http-equiv='refresh'"
echo '{"mend":1,"t":1009.0,"rank":-1,"event":"chaos.fault","kind":"kill","hit":"rank 2 (pid 9)","result":"killed"}' >>live/events.jsonl
written 'rank 2 (pid 9): killed'
grep -q "http-equiv='refresh'" live.html || fail "the page does not follow a job that runs"
kill -INT "$watcher"
wait "$watcher" || fail "--watch does not end by a signal as asked"
grep -q "http-equiv='refresh'" live.html && fail "a page that nobody writes any more asks to be loaded again"
"$MEND" report --watch live -o live.html & watcher=$!
written "http-equiv='refresh'"
tail -1 job/events.jsonl >>live/events.jsonl
wait "$watcher" || fail "--watch does not end with the job"
watcher=
grep -q "http-equiv='refresh'" live.html && fail "the page of a job that has ended asks to be loaded again"

browser=$(command -v chromium chromium-browser google-chrome 2>/dev/null | head -1)
if [ -z "$browser" ]; then echo "PASS (looked at by no browser: chromium is not installed)"; exit 0; fi
look() { # WIDTH HEIGHT: what the browser has laid out, as text
    timeout 100 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$PWD/profile" \
        --window-size="$1,$2" --screenshot="$PWD/$1.png" "file://$PWD/page.html" >/dev/null 2>&1
    [ -s "$1.png" ] || fail "the browser made no picture at width $1"
}
look 1200 1600
look 400 900
timeout 100 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" --print-to-pdf="$PWD/page.pdf" \
    "file://$PWD/page.html" >/dev/null 2>&1
[ -s page.pdf ] || fail "it cannot be printed"
for size in 1200 400; do # a blank page compresses to next to nothing
    [ "$(stat -c %s $size.png)" -gt 15000 ] || fail "the picture at width $size is empty"
done
[ -n "${KEEP:-}" ] && cp ./*.png page.html page.pdf "$KEEP"
echo "PASS (seen by $browser at 1200 and 400 pixels, and printed)"
