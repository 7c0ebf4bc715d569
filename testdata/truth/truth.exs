# Functions of many shapes. Each spends its time on one line, which a comment marks: see
# internal/truth. Lines around a marked one are cold.
# elixir truth.exs [MILLISECONDS for each function]
import Bitwise

defprotocol Walks do
  def walk(x, n)
end

# A function begins on its hot line: its first clause is the one that runs.
defmodule Point do
  defstruct x: 1, y: 2
end

defimpl Walks, for: Point do
  def walk(p, n) when n > 0, do: walk(%{p | x: band(p.x + n, 0xFFFFFF)}, n - 1) # hot: walk

  def walk(p, _), do: p.x
end

defmodule Shapes do
  defmacro __using__(_) do
    quote do
      def used(n), do: n
    end
  end

  defmacro step(s, n) do
    quote do: band(bxor(unquote(s) + unquote(n), 31), 0xFFFFFF)
  end
end

defmodule Truth do
  use Shapes
  require Shapes
  @n 20000

  def tail(n, s) when n > 0, do: tail(n - 1, band(bxor(s + n, 33), 0xFFFFFF)) # hot: tail

  def tail(_, s), do: s

  def body(n) when n > 0, do: bxor(n, 35) + body(n - 1) # hot: body

  def body(_), do: 0

  defp hidden(n, s) when n > 0, do: hidden(n - 1, band(bxor(s + n, 37), 0xFFFFFF)) # hot: hidden

  defp hidden(_, s), do: s

  def expanded(n, s) when n > 0, do: expanded(n - 1, Shapes.step(s, n)) # hot: expanded

  def expanded(_, s), do: s

  def guarded(n, s) when n > 0 and is_integer(s) and s >= 0, do: guarded(n - 1, band(s + n, 0xFFFFFF)) # hot: guarded

  def guarded(_, s), do: s

  def cased(n, s) when n > 0, do: (case band(s, 3) do 0 -> cased(n - 1, s + n); 1 -> cased(n - 1, bxor(s, n)); _ -> cased(n - 1, band(s + 3, 0xFFFFFF)) end) # hot: cased

  def cased(_, s), do: s

  def conditional(n, s) when n > 0, do: (if band(s, 1) == 0, do: conditional(n - 1, band(s + n, 0xFFFFFF)), else: conditional(n - 1, bxor(s, 7))) # hot: conditional

  def conditional(_, s), do: s

  def defaults(n, s \\ 1)

  def defaults(n, s) when n > 0, do: defaults(n - 1, band(bxor(s + n, 39), 0xFFFFFF)) # hot: defaults

  def defaults(_, s), do: s

  def piped(n, s) when n > 0, do: (s + n) |> bxor(41) |> band(0xFFFFFF) |> then_piped(n - 1) # hot: piped

  def piped(_, s), do: s

  defp then_piped(s, n), do: piped(n, s)

  def question?(n) when n > 0, do: bang!(n - 1) # hot: question?

  def question?(_), do: true

  def bang!(n) when n > 0, do: question?(n - 1) # hot: bang!

  def bang!(_), do: false

  def closure(k) do
    fn list ->
      Enum.map(list, fn x -> spin(band(x, k), 100) end)
    end
  end

  def spin(s, n) when n > 0, do: spin(band(bxor(s + n, 43), 0xFFFFFF), n - 1) # hot: spin

  def spin(s, _), do: s

  def reduced(list) do
    Enum.reduce(list, 0, fn x, s -> band(bxor(x + s, 45), 0xFFFFFF) end) # hot: reduced
  end

  def comprehension(list) do
    for(x <- list, do: bxor(x, 47) + 1) # hot: comprehension
  end

  def rescued(n) do
    rescued_loop(n, 1)
  rescue
    e in ArgumentError -> byte_size(e.message)
  end

  def rescued_loop(n, s) when n > 0, do: rescued_loop(n - 1, band(bxor(s + n, 49), 0xFFFFFF)) # hot: rescued_loop

  def rescued_loop(_, _), do: raise(ArgumentError, "raised")

  def bytes_of(<<b, rest::binary>>, s), do: bytes_of(rest, band(bxor(s + b, 51), 0xFFFFFF)) # hot: bytes_of

  def bytes_of(<<>>, s), do: s

  def tuples(n, {a, b}) when n > 0, do: tuples(n - 1, {b + 1, band(a + n, 0xFFFFFF)}) # hot: tuples

  def tuples(_, {a, _}), do: a

  def walked([x | rest], s), do: walked(rest, band(bxor(s + x, 53), 0xFFFFFF)) # hot: walked

  def walked([], s), do: s

  def floats(n, s) when n > 0, do: floats(n - 1, s * 0.5 + 0.25) # hot: floats

  def floats(_, s), do: s

  def keywords([{:a, x} | rest], s), do: keywords(rest, band(s + x, 0xFFFFFF)) # hot: keywords

  def keywords([], s), do: s

  def again(0, _), do: :ok

  def again(n, f) do
    f.()
    again(n - 1, f)
  end

  def main(milliseconds) do
    list = Enum.to_list(1..1000)
    bytes = :binary.copy("0123456789", 100)
    pairs = for x <- list, do: {:a, x}

    functions = [
      fn -> tail(@n, 1) end, fn -> body(@n) end, fn -> hidden(@n, 1) end, fn -> expanded(@n, 1) end, fn -> guarded(@n, 1) end,
      fn -> cased(@n, 1) end, fn -> conditional(@n, 1) end, fn -> defaults(@n) end, fn -> piped(@n, 1) end, fn -> question?(@n) end,
      fn -> closure(7).(list) end, fn -> again(20, fn -> reduced(list) end) end, fn -> again(20, fn -> comprehension(list) end) end,
      fn -> rescued(@n) end, fn -> again(20, fn -> bytes_of(bytes, 1) end) end, fn -> tuples(@n, {1, 2}) end,
      fn -> again(20, fn -> walked(list, 1) end) end, fn -> floats(@n, 1.0) end, fn -> again(20, fn -> keywords(pairs, 1) end) end,
      fn -> Walks.walk(%Point{}, @n) end
    ]

    for f <- functions, do: during(f, System.monotonic_time(:millisecond) + milliseconds)
    IO.puts("#{length(functions)} functions")
  end

  defp during(f, ending) do
    f.()
    if System.monotonic_time(:millisecond) < ending, do: during(f, ending)
  end
end

case System.argv() do
  [milliseconds] -> Truth.main(String.to_integer(milliseconds))
  [] -> Truth.main(40)
end
