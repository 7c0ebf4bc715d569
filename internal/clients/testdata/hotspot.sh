# Opens recording $1, of the working directory, in the window of hotspot 1.3, which fills the screen.
# It writes stacks.txt, what the window exports: a line for each stack, the outermost frame first,
# separated by semicolons, then the cost; inlined calls are frames. And flames.png, the flame graph. Run it
# by xvfb-run. There is no window manager.

keys() { for key; do xdotool key "$key"; sleep 0.3; done; }
visible() { xdotool search --onlyvisible --name "$1"; }

hotspot "$1" 2>hotspot.log &
hotspot=$!
until window=$(visible "$1 - Hotspot"); do
	kill -0 $hotspot || { cat hotspot.log; exit 1; }
	sleep 0.2
done
set -- ${window}
xdotool windowmove "$1" 0 0 windowsize "$1" 100% 100% windowfocus "$1"
until [ -s stacks.txt ]; do
	kill -0 $hotspot || { cat hotspot.log; exit 1; }
	sleep 1
	# The last entry of View is Export, with Stack Collapsed and its events. It is empty, and the
	# keys do nothing, before the recording is parsed.
	keys alt+v Up Right Right Return
	sleep 1
	if visible '^Export '; then
		xdotool type --delay 30 stacks.txt
		keys Return
		sleep 1
	fi
	[ -s stacks.txt ] || keys Escape Escape Escape
done
keys ctrl+Tab ctrl+Tab ctrl+Tab ctrl+t # the flame graph, without the timeline
sleep 2
import -window root flames.png
kill $hotspot
