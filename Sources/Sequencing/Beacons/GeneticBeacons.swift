public import Handshake
import OAuth

/// Asks genetic beacons whether anyone has been seen with a variant (dossier 5.10). Needs no account, and sends no
/// token.
public struct GeneticBeacons: Sendable {
    private let exchange: Exchange

    /// Creates a client of the beacons.
    public init(
        at hosts: Sequencing.Hosts = .production, transport: any Transport = .platform,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        exchange = Exchange(send: { try await transport.send($0, limits: $1) }, host: hosts.beacon, clock: clock)
    }

    /// The network of beacons.
    public enum Network: String, Sendable, Hashable, CaseIterable {
        /// Those of other institutions.
        case publicBeacons = "PublicBeacons"
        /// The service's own.
        case sequencing = "SequencingBeacon"
    }

    /// A variant: position and allele.
    public struct Variant: Sendable, Hashable {
        public let chromosome: Int
        public let position: Int64
        public let allele: String

        /// Creates a variant.
        ///
        /// - Throws: ``SequencingError/input(member:problem:)`` for numbers below 1, or an allele that is not 1 to
        ///   1,000 letters.
        public init(chromosome: Int, position: Int64, allele: String) throws(SequencingError) {
            guard chromosome >= 1 else { throw .input(member: "chrom", problem: "a chromosome is a number from 1") }
            guard position >= 1 else { throw .input(member: "pos", problem: "a position is a number from 1") }
            guard (1...1000).contains(allele.utf8.count), allele.utf8.allSatisfy({ (0x41...0x5A).contains($0 & 0xDF) })
            else {
                throw .input(member: "allele", problem: "an allele consists of letters, such as A or GT")
            }
            self.chromosome = chromosome
            self.position = position
            self.allele = allele
        }
    }

    /// The answer of the beacons.
    public struct Answer: Sendable, Hashable {
        /// The answer's text, whose form is undocumented.
        public let text: String
        /// The member `exists` if the answer is an object; nil otherwise.
        public let exists: Bool?
    }

    /// Sends a query.
    ///
    /// - Throws: ``SequencingError``, `CancellationError`.
    public func ask(_ network: Network, for variant: Variant) async throws -> Answer {
        let query = "chrom=\(variant.chromosome)&pos=\(variant.position)&allele=\(variant.allele)"
        let content = try await exchange.content(.get(network.rawValue, "/\(network.rawValue)/?\(query)"))
        guard let text = String(validating: content, as: UTF8.self) else {
            throw SequencingError.malformed(
                answer: network.rawValue, member: "content", expected: "UTF-8 text", found: "other bytes")
        }
        return Answer(text: text, exists: (try? JSONValue(parsing: content))?.object?["exists"]?.bool)
    }
}
