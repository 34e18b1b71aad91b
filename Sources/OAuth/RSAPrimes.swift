/// The two primes of an RSA key, from its modulus and its exponents.
///
/// This is the deterministic method of NIST SP 800-56B revision 2, appendix C.2. It has no modular exponentiation and tries
/// no candidates: it takes a greatest common divisor, divides, and takes a square root. So the sizes of the numbers bound
/// the work, whatever a file holds. With g = gcd(n − 1, e·d − 1), it finds the primes where e·d·g is below about n·q/2, q
/// being the smaller prime. As e has at most 32 bits, that leaves out only keys whose p − 1 and q − 1 have a very large
/// common factor, and such a modulus is easily factored.
///
/// The steps depend on the private numbers, so nothing here takes constant time. No peer can use that: the method runs when
/// a key is read, always with the same numbers, and no message takes part in it. A program that watches the caches of
/// the same processor while the key is read could. A key that is stored with its primes does not come here.
struct RSAPrimes {
    /// The most significant byte is first. `p` is the larger one.
    let p, q: [UInt8]

    /// Nil when the exponents lead to no two different numbers with this product.
    ///
    /// Whether `p` and `q` are prime and belong to the exponents is left to the caller.
    ///
    /// - Parameters:
    ///   - modulus: n, of a size that `JSONWebKey.isAcceptable` takes.
    ///   - publicExponent: e, likewise.
    ///   - privateExponent: d, any number.
    init?(modulus: [UInt8], publicExponent: [UInt8], privateExponent: [UInt8]) {
        let (n, e, d) = (Natural(modulus), Natural(publicExponent), Natural(privateExponent))
        guard d < n, e * d > 1 else { return nil }
        let order = e * d - 1
        // A small multiple k of (p − 1)·(q − 1), which is k·n − k·(p + q − 1).
        let multiple = order * order.greatestCommonDivisor(with: n - 1)
        let (quotient, remainder) = multiple.divided(by: n)
        let sum = (n - remainder).divided(by: quotient + 1).quotient + 1
        // (p + q)² − 4·p·q is (p − q)².
        guard sum * sum > n * 4 else { return nil }
        let p = (sum + (sum * sum - n * 4).squareRoot).half
        let q = sum - p
        guard p * q == n else { return nil }
        (self.p, self.q) = (p.bytes, q.bytes)
    }
}
