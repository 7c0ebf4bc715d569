%% Functions of many shapes. Each spends its time on one line, which a comment marks: see
%% internal/truth. Lines around a marked one are cold.
%% erl -noshell -run truth main MILLISECONDS
-module(truth).
-export([main/1, exported/1]).
-compile({inline, [inlined/2]}).
-record(point, {x = 0, y = 0}).

-define(N, 20000).
-define(MASK, 16#ffffff).

%% A function begins on its hot line: its first clause is the one that runs.
tail(N, S) when N > 0 -> tail(N - 1, (S + N bxor 31) band ?MASK); % hot: tail
tail(_, S) ->
    S.

exported(N) when N > 0 -> exported(N - 1 + (N band 0)); % hot: exported
exported(_) ->
    0.

body(N) when N > 0 -> (N bxor 33) + body(N - 1); % hot: body
body(_) ->
    0.

guarded(N, S) when S >= 0, N > 0, is_integer(N) -> guarded(N - 1, (S + N bxor 35) band ?MASK + 0); % hot: guarded
guarded(_, S) ->
    S.

cased(N, S) when N > 0 -> case S band 3 of 0 -> cased(N - 1, S + N); 1 -> cased(N - 1, S bxor N); _ -> cased(N - 1, (S + 3) band ?MASK) end; % hot: cased
cased(_, S) ->
    S.

iffed(N, S) when N > 0 -> if S > 1000000 -> iffed(N - 1, S - 1000000); S band 1 =:= 0 -> iffed(N - 1, S + N); true -> iffed(N - 1, S + 5) end; % hot: iffed
iffed(_, S) ->
    S.

closure(K) ->
    fun(N) ->
        named_fun(K, N)
    end.

named_fun(K, N) ->
    Loop =
        fun Named(M, S) when M > 0 -> Named(M - 1, (S + M bxor K) band ?MASK); % hot: named_fun
            Named(_, S) ->
                S
        end,
    Loop(N, K).

comprehension(L) ->
    length(
        [(X bxor 37) + 1 || X <- L, X band 1 =:= 0] % hot: comprehension
    ).

mapped(L) ->
    F =
        fun(X) ->
            spin(X band 7, 100, 39)
        end,
    length(lists:map(F, lists:sublist(L, 200))).

spin(S, N, K) when N > 0 -> spin((S + N bxor K) band ?MASK, N - 1, K); % hot: spin
spin(S, _, _) ->
    S.

folded(L) ->
    lists:foldl(
        fun(X, S) -> (X + S bxor 41) band ?MASK end, % hot: folded
        0, L).

caught(N) ->
    try
        caught_loop(N, 1)
    catch
        throw:S -> S
    end.

caught_loop(N, S) when N > 0 -> caught_loop(N - 1, (S + N bxor 43) band ?MASK); % hot: caught_loop
caught_loop(_, S) ->
    throw(S).

bytes_of(<<B, Rest/binary>>, S) -> bytes_of(Rest, (S + B bxor 45) band ?MASK); % hot: bytes_of
bytes_of(<<>>, S) ->
    S.

records(N, P) when N > 0 -> records(N - 1, P#point{x = (P#point.x + N) band ?MASK}); % hot: records
records(_, P) ->
    P#point.x.

tuples(N, {A, B}) when N > 0 -> tuples(N - 1, {B + 1, (A + N) band ?MASK}); % hot: tuples
tuples(_, {A, _}) ->
    A.

lists_of(N, [A, B | T]) when N > 0 -> lists_of(N - 1, [B + 1, (A + N) band ?MASK | T]); % hot: lists_of
lists_of(_, [S | _]) ->
    S.

floats(N, S) when N > 0 -> floats(N - 1, S * 0.5 + 0.25); % hot: floats
floats(_, S) ->
    S.

inlining(N, S) when N > 0 -> inlining(N - 1, inlined(S, N)); inlining(_, S) -> S. inlined(S, N) -> (S + N bxor 49) band ?MASK. % hot: inlining

even(N) when N > 0 -> odd(N - 1); % hot: even
even(_) ->
    true.

odd(N) when N > 0 -> even(N - 1); % hot: odd
odd(_) ->
    false.

applied(N, F, S) when N > 0 -> applied(N - 1, F, (S + N bxor 51) band ?MASK + element(1, F)); % hot: applied
applied(_, _, S) ->
    S.

elements(N, T, S) when N > 0 -> elements(N - 1, T, (S + element(N band 3 + 1, T)) band ?MASK); % hot: elements
elements(_, _, S) ->
    S.

reversed([X | Rest], S) -> reversed(Rest, [X + 1 | S]); % hot: reversed
reversed([], S) ->
    S.

matched([{a, X} | Rest], S) -> matched(Rest, S + X); % hot: matched
matched([], S) ->
    S.

nested(N) -> F = fun G(0, S) -> S; G(M, S) -> G(M - 1, (S + M bxor 53) band ?MASK) end, F(N, 1). % hot: nested

shifted(N, S) when N > 0 -> shifted(N - 1, ((S bsr 1) + N) band ?MASK); % hot: shifted
shifted(_, S) ->
    S.

%% Lists of a thousand are walked often: none is made anew.
again(0, _) ->
    ok;
again(N, F) ->
    F(),
    again(N - 1, F).

main([Milliseconds]) ->
    L = lists:seq(1, 1000),
    B = list_to_binary([X band 255 || X <- L]),
    P = [{a, X} || X <- L],
    Functions = [
        fun() -> tail(?N, 1) end, fun() -> exported(?N) end, fun() -> body(?N) end, fun() -> guarded(?N, 0) end,
        fun() -> cased(?N, 1) end, fun() -> iffed(?N, 1) end, fun() -> (closure(3))(?N) end,
        fun() -> again(20, fun() -> comprehension(L) end) end, fun() -> mapped(L) end,
        fun() -> again(20, fun() -> folded(L) end) end, fun() -> caught(?N) end,
        fun() -> again(20, fun() -> bytes_of(B, 0) end) end, fun() -> records(?N, #point{}) end,
        fun() -> tuples(?N, {1, 2}) end, fun() -> lists_of(?N, [1, 2, 3]) end, fun() -> floats(?N, 1.0) end,
        fun() -> inlining(?N, 1) end, fun() -> even(?N) end, fun() -> applied(?N, {1}, 1) end,
        fun() -> elements(?N, {1, 2, 3, 4}, 1) end, fun() -> again(20, fun() -> reversed(L, []) end) end,
        fun() -> again(20, fun() -> matched(P, 0) end) end, fun() -> nested(?N) end, fun() -> shifted(?N, 1) end
    ],
    [during(F, erlang:monotonic_time(millisecond) + list_to_integer(Milliseconds)) || F <- Functions],
    io:format("~p functions~n", [length(Functions)]),
    erlang:halt(0).

during(F, End) ->
    F(),
    case erlang:monotonic_time(millisecond) < End of
        true -> during(F, End);
        false -> ok
    end.
