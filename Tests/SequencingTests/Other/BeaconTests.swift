import Handshake
import OAuth
import Sequencing
import TestFixtures
import Testing

@Suite("Beacons")
struct BeaconTests {
    @Test("E09: both networks are asked without a token", arguments: GeneticBeacons.Network.allCases)
    func ask(_ network: GeneticBeacons.Network) async throws {
        let service = ScriptedService(["GET /\(network.rawValue)/": [.json(#"{"exists":true}"#)]])
        let answer = try await GeneticBeacons(transport: service, clock: HurriedClock())
            .ask(network, for: .init(chromosome: 1, position: 2, allele: "A"))
        #expect(answer.exists == true && answer.text == #"{"exists":true}"#)
        #expect(service.lines == ["GET /\(network.rawValue)/?chrom=1&pos=2&allele=A"])
        #expect(service.requests.first?.authorization == nil)
    }

    @Test("an answer of any form is handed over as it is", arguments: ["yes", "", "[1]", #"{"exists":"perhaps"}"#])
    func anyForm(_ text: String) async throws {
        let service = ScriptedService(["GET /PublicBeacons/": [.json(text)]])
        let answer = try await GeneticBeacons(transport: service).ask(
            .publicBeacons, for: .init(chromosome: 1, position: 2, allele: "A"))
        #expect(answer.text == text && answer.exists == nil)
    }

    @Test(
        "a variant that is none is refused before anything is sent",
        arguments: [
            (0, 1, "A"), (1, 0, "A"), (-1, 1, "A"), (1, 1, ""), (1, 1, "A&b=c"), (1, 1, "1"),
        ])
    func variant(_ chromosome: Int, _ position: Int64, _ allele: String) async {
        let error = await sequencingError {
            try GeneticBeacons.Variant(chromosome: chromosome, position: position, allele: allele)
        }
        #expect(error?.code == "invalid_input")
    }

    @Test("0.1: production has its own hosts, and a stand-in serves all")
    func hosts() throws {
        #expect(Sequencing.Hosts.production.beacon.origin.description == "https://beacon.sequencing.com")
        #expect(Sequencing.Hosts(of: .sequencing) == .production)
        let service = Service.sequencing.at(try EndpointURL("http://127.0.0.1:9", security: .allowingInsecureLoopback))
        #expect(Sequencing.Hosts(of: service).beacon.origin.description == "http://127.0.0.1:9")
    }
}
