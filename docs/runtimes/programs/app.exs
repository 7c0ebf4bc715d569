# Two hot functions: one that tells primes, one that counts them.
defmodule App do
  def prime?(n, i) when i * i > n, do: n > 1
  def prime?(n, i) when rem(n, i) == 0, do: false
  def prime?(n, i), do: prime?(n, i + 1)

  def count_primes(limit), do: Enum.count(1..limit, &prime?(&1, 2))
end

IO.puts(App.count_primes(700_000))
