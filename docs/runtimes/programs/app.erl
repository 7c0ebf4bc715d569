%% Two hot functions: one that tells primes, one that counts them.
-module(app).
-export([main/0, count_primes/2, is_prime/2]).

is_prime(N, I) when I * I > N -> N > 1;
is_prime(N, I) when N rem I =:= 0 -> false;
is_prime(N, I) -> is_prime(N, I + 1).

count_primes(0, Count) -> Count;
count_primes(N, Count) ->
    case is_prime(N, 2) of
        true -> count_primes(N - 1, Count + 1);
        false -> count_primes(N - 1, Count)
    end.

main() ->
    io:format("~p~n", [count_primes(700000, 0)]),
    halt().
