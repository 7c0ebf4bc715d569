# What truth.rb calls.
module Other
  def self.square(n)
    s, i = 20, 0
    while (i += 1) < n do s = (s * 71 + i * i) & 0xffffff end # hot: square
    s
  end

  def self.mixed_in(x)
    t, i = x, 0
    while (i += 1) < 200 do t = (t * 73 + i) & 0xffffff end # hot: mixed_in, inlining
    t
  end

  def self.inlining(n)
    s, k = 21, 0
    while k < n
      s ^= mixed_in(s + k)
      k += 200
    end
    s
  end
end
