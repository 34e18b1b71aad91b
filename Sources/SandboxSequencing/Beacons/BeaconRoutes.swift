#if Sandbox
import SandboxCore

/// The two beacons, which need no token (Sequencing dossier, section 5.10).
struct BeaconRoutes: Sendable {
    var routes: [Route] {
        ["PublicBeacons", "SequencingBeacon"].map { beacon in
            Route(
                "GET", path: "/\(beacon)", isSlashOptional: true,
                note: "is an allele known? chrom, pos, allele; no token needed"
            ) { request in
                do throws(APIRefusal) {
                    return try Self.answer(request.query, beacon: beacon)
                } catch {
                    return error.answer
                }
            }
        }
    }

    /// Chromosomes 1 to 25 (23 is X, 24 Y, 25 mitochondrial), positions within the longest one, alleles of A, C, G and T.
    ///
    /// The public beacons know an allele when the sum of chromosome, position and the allele's bytes is even, the
    /// service's own when it is a multiple of three.
    private static func answer(_ query: FormParameters, beacon: String) throws(APIRefusal) -> Answer {
        guard let chromosome = query["chrom"].flatMap({ Int($0) }), (1...25).contains(chromosome) else {
            throw .invalidRequest("chrom")
        }
        guard let position = query["pos"].flatMap({ Int($0) }), (1...248_956_422).contains(position) else {
            throw .invalidRequest("pos")
        }
        guard let allele = query["allele"], allele.allSatisfy({ "ACGTacgt".contains($0) }), allele.utf8.count <= 50
        else { throw .invalidRequest("allele") }
        let sum = chromosome + position + allele.utf8.reduce(0) { $0 + Int($1) }
        let isKnown = sum.isMultiple(of: beacon == "PublicBeacons" ? 2 : 3)
        return .json([
            "beacon": .string(beacon), "chrom": .number(chromosome), "pos": .number(position),
            "allele": .string(allele), "exists": .bool(isKnown),
        ])
    }
}
#endif
