# The program of the trials: see README.md.
import os, signal, sys, time

def inner(x): return (x * 31 + 7) % 1000003

def early(n):
    x = n
    for _ in range(500): x = inner(x)
    return x

def hot(n):
    x = n
    for _ in range(500): x = inner(x)
    return x

def warm(f, milliseconds):
    end, total = time.time() + milliseconds / 1000, 0
    while time.time() < end: total += f(total & 1023)

def sign(name, text):
    with open(os.path.join(os.environ['TRIAL_SIGNS'], name), 'a') as f: f.write(text)

def handle(number, _):
    sign('signals', signal.Signals(number).name + '\n')
    time.sleep(0.4)  # a second one would be counted
    sys.exit(7)

mode = os.environ.get('TRIAL_MODE', 'normal')
print('out: begin', flush=True)
print('err: begin', file=sys.stderr, flush=True)
if mode == 'work':
    for i in range(int(os.environ['TRIAL_WORK'])): hot(i & 1023)
    sys.exit(0)
if mode == 'handler':
    signal.signal(signal.SIGINT, handle)
    signal.signal(signal.SIGTERM, handle)
warm(early, 100)
warm(hot, int(os.environ.get('TRIAL_TIME', '600')))
if mode in ('busy', 'handler'):
    sign('ready', f'{os.getpid()}\n')
    while True: hot(1)
print('out: end')
sys.exit(7 if mode == 'code' else 0)
