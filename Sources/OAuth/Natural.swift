/// An unsigned integer of any size. No operation traps, and none takes constant time.
struct Natural: Comparable, ExpressibleByIntegerLiteral {
    /// The digits to the base 2⁶⁴, the least significant first. The last one is not 0.
    private var digits: [UInt64]

    private init(digits: [UInt64]) {
        self.digits = digits
        while self.digits.last == 0 { self.digits.removeLast() }
    }

    init(integerLiteral value: UInt64) {
        self.init(digits: [value])
    }

    /// - Parameter bytes: the number, the most significant byte first.
    init(_ bytes: [UInt8]) {
        var digits = [UInt64](repeating: 0, count: (bytes.count + 7) / 8)
        for (place, byte) in bytes.reversed().enumerated() { digits[place / 8] |= UInt64(byte) << (place % 8 * 8) }
        self.init(digits: digits)
    }

    /// The number without leading zeros, the most significant byte first.
    var bytes: [UInt8] {
        (0..<(bitWidth + 7) / 8).reversed().map { UInt8(truncatingIfNeeded: digits[$0 / 8] >> ($0 % 8 * 8)) }
    }

    var bitWidth: Int { digits.count * 64 - (digits.last?.leadingZeroBitCount ?? 0) }

    private subscript(place: Int) -> UInt64 { place < digits.count ? digits[place] : 0 }

    static func < (one: Natural, other: Natural) -> Bool {
        guard one.digits.count == other.digits.count else { return one.digits.count < other.digits.count }
        return one.digits.reversed().lexicographicallyPrecedes(other.digits.reversed())
    }

    static func + (one: Natural, other: Natural) -> Natural {
        var (sum, carry): ([UInt64], UInt64) = ([], 0)
        for place in 0...max(one.digits.count, other.digits.count) {
            let step = UInt128(one[place]) &+ UInt128(other[place]) &+ UInt128(carry)
            sum.append(UInt64(truncatingIfNeeded: step))
            carry = UInt64(truncatingIfNeeded: step >> 64)
        }
        return Natural(digits: sum)
    }

    /// The number on the right must not be the larger one.
    static func - (one: Natural, other: Natural) -> Natural {
        var (difference, borrow) = (one.digits, UInt64(0))
        for place in difference.indices {
            let (step, isBelow) = difference[place].subtractingReportingOverflow(other[place])
            let (digit, isBelowToo) = step.subtractingReportingOverflow(borrow)
            difference[place] = digit
            borrow = isBelow || isBelowToo ? 1 : 0
        }
        return Natural(digits: difference)
    }

    static func * (one: Natural, other: Natural) -> Natural {
        var product = [UInt64](repeating: 0, count: one.digits.count + other.digits.count)
        for (place, digit) in one.digits.enumerated() {
            var carry: UInt64 = 0
            for (offset, factor) in other.digits.enumerated() {
                // At most (2⁶⁴ − 1)² + 2·(2⁶⁴ − 1), which is 2¹²⁸ − 1.
                let step = UInt128(digit) &* UInt128(factor) &+ UInt128(product[place + offset]) &+ UInt128(carry)
                product[place + offset] = UInt64(truncatingIfNeeded: step)
                carry = UInt64(truncatingIfNeeded: step >> 64)
            }
            product[place + other.digits.count] = carry
        }
        return Natural(digits: product)
    }

    /// The number times a power of two.
    private func shifted(by count: Int) -> Natural {
        var (shifted, carry) = ([UInt64](repeating: 0, count: count / 64), UInt64(0))
        for digit in digits {
            shifted.append(digit << (count % 64) | carry)
            carry = digit >> (64 - count % 64)
        }
        return Natural(digits: shifted + [carry])
    }

    /// The half, rounded down.
    var half: Natural {
        Natural(digits: digits.indices.map { digits[$0] >> 1 | self[$0 + 1] << 63 })
    }

    /// The quotient, rounded down, and the remainder. The divisor must not be 0.
    func divided(by divisor: Natural) -> (quotient: Natural, remainder: Natural) {
        let highest = max(bitWidth - divisor.bitWidth, 0)
        var (remainder, multiple) = (self, divisor.shifted(by: highest))
        var quotient = [UInt64](repeating: 0, count: highest / 64 + 1)
        for bit in (0...highest).reversed() {
            if multiple <= remainder {
                remainder = remainder - multiple
                quotient[bit / 64] |= 1 << (bit % 64)
            }
            multiple = multiple.half
        }
        return (Natural(digits: quotient), remainder)
    }

    func greatestCommonDivisor(with other: Natural) -> Natural {
        var (one, other) = (self, other)
        while other > 0 { (one, other) = (other, one.divided(by: other).remainder) }
        return one
    }

    /// The root, rounded down, by Newton's method from above.
    var squareRoot: Natural {
        var root = Natural(1).shifted(by: bitWidth / 2 + 1)
        while true {
            let next = (root + divided(by: root).quotient).half
            guard next < root else { return root }
            root = next
        }
    }
}
