#!/usr/bin/env escript
%% -*- erlang -*-
%%! +S 1:1
%% The program of the trials: see README.md.
-mode(compile).

inner(X) -> (X * 31 + 7) rem 1000003.

hot(X, 0) -> X;
hot(X, N) -> hot(inner(X), N - 1).

warm(End, Sum) ->
    case erlang:monotonic_time(millisecond) < End of
        true -> warm(End, hot(Sum band 1023, 20000));
        false -> Sum
    end.

forever() -> hot(1, 20000), forever().

env(Name, Default) ->
    case os:getenv(Name) of
        false -> Default;
        Value -> Value
    end.

main(_) ->
    Mode = env("TRIAL_MODE", "normal"),
    io:format("out: begin~n"),
    io:format(standard_error, "err: begin~n", []),
    case Mode of
        "work" ->
            [hot(I band 1023, 20000) || I <- lists:seq(1, list_to_integer(env("TRIAL_WORK", "1")))],
            halt(0);
        _ -> ok
    end,
    warm(erlang:monotonic_time(millisecond) + list_to_integer(env("TRIAL_TIME", "600")), 0),
    case Mode of
        "busy" ->
            ok = file:write_file(env("TRIAL_SIGNS", "") ++ "/ready", os:getpid() ++ "\n"),
            forever();
        _ -> ok
    end,
    io:format("out: end~n"),
    case Mode of
        "code" -> halt(7);
        _ -> ok
    end.
