import CryptoExtras
import Testing

@testable import OAuth

@Suite("Primes of RSA keys")
struct RSAPrimesTests {
    /// The exponents of a key: the smallest public one from 5 on that the order allows, and the private one that belongs
    /// to it.
    private static func exponents(_ order: Natural) throws -> (e: Natural, d: Natural) {
        for e in stride(from: UInt64(5), to: 100, by: 2) {
            for k in 1..<e {
                let (d, rest) = (Natural(integerLiteral: k) * order + 1).divided(by: Natural(integerLiteral: e))
                if rest == 0 { return (Natural(integerLiteral: e), d) }
            }
        }
        throw OAuthError.configuration(member: "order", problem: "all these numbers share a factor with it")
    }

    private static func leastCommonMultiple(_ one: Natural, _ other: Natural) -> Natural {
        (one * other).divided(by: one.greatestCommonDivisor(with: other)).quotient
    }

    private static func primes(_ n: Natural, _ e: Natural, _ d: Natural) -> RSAPrimes? {
        RSAPrimes(modulus: n.bytes, publicExponent: e.bytes, privateExponent: d.bytes)
    }

    /// 2 to this power, minus 1: a prime for 61, 89, 107, 127, 521, 607, 1279 and 2203.
    private static func mersenne(_ power: Int) -> Natural {
        Natural([UInt8(1 << (power % 8) - 1)] + [UInt8](repeating: 0xFF, count: power / 8))
    }

    private static func jwk(_ n: Natural, _ e: Natural, _ d: Natural) throws -> [UInt8] {
        let numbers = ["n": n, "e": e, "d": d].mapValues { Base64URL.encode($0.bytes) }
        return Array(try SigningKeyTests.json(numbers.merging(["kty": "RSA"]) { $1 }).utf8)
    }

    @Test(
        "M304: an RSA key of a JWK without primes signs what its exported public half verifies",
        arguments: [2048, 2176, 3072, 4096])
    func signs(bitCount: Int) throws {
        let made = try _RSA.Signing.PrivateKey(keySize: .init(bitCount: bitCount))
        let numbers = try SigningKeyTests.numbers(made).compactMapValues { Base64URL.decode($0).map(Natural.init) }
        let (n, e, d) = try (#require(numbers["n"]), #require(numbers["e"]), #require(numbers["d"]))
        let found = try #require(Self.primes(n, e, d))
        #expect([found.q, found.p].map(Natural.init) == [numbers["p"], numbers["q"]].compactMap(\.self).sorted())

        let key = try SigningKey(parsing: Self.jwk(n, e, d))
        let keys = try JSONWebKeySet(parsing: Array(key.publicKeySet.utf8))
        for algorithm in key.algorithms {
            let signed = try key.sign(["sub": .string("app")], header: [:], by: algorithm)
            let read = try JSONWebSignature(compact: signed).verify(with: keys, allowing: [algorithm])
            #expect(String(decoding: read.payload, as: UTF8.self) == #"{"sub":"app"}"#)
        }
        // What is sealed is read again as the same key.
        #expect(try SigningKey(parsing: Array(key.source.reveal().utf8)).thumbprint == key.thumbprint)
    }

    @Test("M304: the primes are found whatever their lengths are, and whichever private exponent the key has")
    func found() throws {
        let primes = [61, 89, 107, 127, 521, 1279].map(Self.mersenne)
        for (index, p) in primes.enumerated() {
            for q in primes[..<index] {
                for order in [(p - 1) * (q - 1), Self.leastCommonMultiple(p - 1, q - 1)] {
                    let (e, d) = try Self.exponents(order)
                    let found = try #require(Self.primes(p * q, e, d))
                    #expect(found.p == p.bytes && found.q == q.bytes)
                }
            }
        }
    }

    private typealias Numbers = (name: String, n: Natural, e: Natural, d: Natural)

    /// Numbers that are no key of two different primes.
    private static func hostile() throws -> [Numbers] {
        let (p, q, other) = (mersenne(607), mersenne(1279), mersenne(521))
        let three = p * q * other
        let power = (0..<1300).reduce(Natural(1)) { number, _ in number * 3 }
        // With exponents that are as right as they can be.
        let orders: [(name: String, n: Natural, order: Natural)] = [
            ("a prime", mersenne(2203), mersenne(2203) - 1),
            ("a square", q * q, q * (q - 1)),
            ("a square, as of two equal primes", q * q, q - 1),
            ("a power", power, power.divided(by: 3).quotient * 2),
            ("three primes", three, leastCommonMultiple(leastCommonMultiple(p - 1, q - 1), other - 1)),
            ("three primes, with the product", three, (p - 1) * (q - 1) * (other - 1)),
            ("an even number", p * q * 4, leastCommonMultiple(p - 1, q - 1)),
            ("the exponents of another number", three, (q - 1) * (other - 1)),
            ("a power of two, and 1", mersenne(2203), mersenne(2100) + 1),
        ]
        let others: [Numbers] = [
            ("no exponents", three, 1, 1), ("no private exponent", three, 3, 0), ("no public exponent", three, 0, 3),
            ("a short private exponent", three, 3, mersenne(65)), ("n − 1", three, 3, three - 1),
            ("n", three, 3, three), ("the largest numbers", mersenne(8192), mersenne(32), mersenne(8192) - 1),
        ]
        return try others
            + orders.map { name, n, order in
                let (e, d) = try exponents(order)
                return (name, n, e, d)
            }
    }

    @Test("M304: numbers that are no key of two different primes have none, and their file is refused")
    func refused() throws {
        for (name, n, e, d) in try Self.hostile() {
            #expect(Self.primes(n, e, d) == nil, "\(name)")
            #expect(failure { _ = try SigningKey(parsing: Self.jwk(n, e, d)) } == "configuration key", "\(name)")
        }
        // The right exponents, but the private one is longer than a key's.
        let (p, q) = (Self.mersenne(521), Self.mersenne(607))
        let (e, d) = try Self.exponents((p - 1) * (q - 1))
        #expect(Self.primes(p * q, e, d) != nil)
        #expect(Self.primes(p * q, e, d + (p - 1) * (q - 1)) == nil)
    }

    @Test("M304: no numbers trap, and what is found has the modulus as its product")
    func arbitrary() {
        for seed in 1...300 {
            let random = Example.seeded(UInt64(seed)).bytes(96)
            let (n, e) = (Array(random[..<Int(random[94] % 40)]), Array(random[40..<44]))
            let d = Array(random[44..<44 + Int(random[95] % 44)])
            guard let found = RSAPrimes(modulus: n, publicExponent: e, privateExponent: d) else { continue }
            #expect(Natural(found.p) * Natural(found.q) == Natural(n))
        }
    }

    @Test("M304: large numbers are calculated with carries, borrows and rounding")
    func arithmetic() {
        // Digits at the edges, in numbers of up to three of them.
        let digits: [UInt64] = [0, 1, 1 << 63, .max - 1, .max]
        let numbers = (0..<125).map { index in
            [1, 5, 25].reduce(Natural(0)) {
                $0 * Natural(integerLiteral: .max) + $0 + Natural(integerLiteral: digits[index / $1 % 5])
            }
        }
        for (a, b) in zip(numbers, numbers.reversed()) where b > 0 {
            #expect((a + b) - b == a)
            #expect((a + 1) * b == a * b + b)
            let (quotient, remainder) = a.divided(by: b)
            #expect(quotient * b + remainder == a && remainder < b)
            #expect((a * b + b - 1).divided(by: b) == (a, b - 1))
            #expect((a * a + a + a).squareRoot == a && (a * a).squareRoot == a)
            #expect((a + a + 1).half == a && (a + a).bitWidth == (a == 0 ? 0 : a.bitWidth + 1))
            #expect((a * b).greatestCommonDivisor(with: b) == b)
            #expect(Natural(a.bytes) == a)
        }
    }
}
