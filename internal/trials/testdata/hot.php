<?php // The program of the trials: see README.md.
function inner($x) { return ($x * 31 + 7) % 1000003; }
function early($n) { $x = $n; for ($i = 0; $i < 2000; $i++) $x = inner($x); return $x; }
function hot($n) { $x = $n; for ($i = 0; $i < 2000; $i++) $x = inner($x); return $x; }
function warm($first, $milliseconds) {
    $sum = 0;
    for ($end = microtime(true) + $milliseconds / 1000; microtime(true) < $end;) $sum += $first ? early($sum & 1023) : hot($sum & 1023);
    return $sum;
}
function work($n) { $sum = 0; for ($i = 0; $i < $n; $i++) $sum += hot($i & 1023); return $sum; }
function sign($name, $text) { file_put_contents(getenv('TRIAL_SIGNS') . "/$name", $text, FILE_APPEND); }
$mode = getenv('TRIAL_MODE') ?: 'normal';
if (PHP_SAPI === 'cli-server') {
    warm(true, 50);
    warm(false, 300);
    echo "served\n";
    return;
}
echo "out: begin\n";
fwrite(STDERR, "err: begin\n");
if ($mode === 'work') {
    work((int) getenv('TRIAL_WORK'));
    exit(0);
}
if ($mode === 'handler') {
    pcntl_async_signals(true);
    foreach (['SIGINT' => SIGINT, 'SIGTERM' => SIGTERM] as $name => $number) {
        pcntl_signal($number, function () use ($name) {
            sign('signals', "$name\n");
            for ($end = microtime(true) + 0.4; microtime(true) < $end;) usleep(20000); // a second one would be counted
            exit(7);
        });
    }
}
warm(true, 100);
warm(false, (int) (getenv('TRIAL_TIME') ?: 600));
if ($mode === 'busy' || $mode === 'handler') {
    sign('ready', getmypid() . "\n");
    for (;;) hot(1);
}
echo "out: end\n";
exit($mode === 'code' ? 7 : 0);
