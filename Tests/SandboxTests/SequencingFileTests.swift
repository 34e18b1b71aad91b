import Foundation
import Sandbox
import TestFixtures
import Testing

@Suite("The Sequencing.com stand-in: files", .heavy)
struct SequencingFileTests {
    @Test(
        "each flag gives its categories, and only the value true counts",
        arguments: [
            ("all=true", 10, ["Uploaded": 6, "SharedToMe": 2, "FromApps": 2, "AllWithAltruist": 1]),
            ("sample=true", 10, [:]), ("uploaded=true", 0, ["Uploaded": 6]), ("shared=true", 0, ["SharedToMe": 2]),
            ("fromApps=true", 0, ["FromApps": 2]), ("allWithAltruist=true", 0, ["AllWithAltruist": 1]),
            ("uploaded=true&shared=true", 0, ["Uploaded": 6, "SharedToMe": 2]),
            ("sample=true&shared=true&uploaded=false", 10, ["SharedToMe": 2]),
        ])
    func flags(_ query: String, _ samples: Int, _ own: [String: Int]) async throws {
        try await withSandbox { sandbox in
            let files = try await SequencingSteps(sandbox).get("/DataSourceList?" + query).objects()
            var counts: [String: Int] = [:]
            for file in files { counts[file["FileCategory"] as? String ?? "", default: 0] += 1 }
            var expected = own
            if samples > 0 { expected["Community"] = samples }
            #expect(counts == expected)
        }
    }

    @Test("no flag, or none that is true, is 400", arguments: ["", "?all=1", "?all=TRUE", "?everything=true"])
    func noFlag(_ query: String) async throws {
        try await withSandbox { sandbox in
            let answer = try await SequencingSteps(sandbox).get("/DataSourceList" + query)
            #expect(answer.refusal == "400 invalid_request")
        }
    }

    @Test("without a live token the answer is 401 in the words that old clients know")
    func unauthorized() async throws {
        try await withSandbox { sandbox in
            let steps = try await SequencingSteps(sandbox)
            for bearer in [nil, "", "unknown"] {
                let answer = try await steps.oauth.get("/DataSourceList?all=true", bearer: bearer)
                #expect(answer.status == 401)
                #expect(answer.text == #"{"Message":"Authorization error: invalid token"}"#)
                #expect(answer["WWW-Authenticate"]?.hasPrefix("Bearer") == true)
            }
            sandbox.expireAccessTokens(.sequencing)
            #expect(try await steps.get("/DataSourceList?all=true").status == 401)
        }
    }

    @Test(
        "demo is for sample files, external for own ones, and what is missing is never an empty list",
        arguments: [
            ("demo", "all=true", "200", 10), ("demo", "uploaded=true", "403 insufficient_scope", 0),
            ("external", "all=true", "200", 11), ("external", "sample=true", "403 insufficient_scope", 0),
            ("demo", "sample=true&uploaded=true", "200", 10),
        ])
    func scopes(_ scope: String, _ query: String, _ outcome: String, _ count: Int) async throws {
        try await withSandbox { sandbox in
            let answer = try await SequencingSteps(sandbox, scope: scope).get("/DataSourceList?" + query)
            #expect(answer.refusal == outcome)
            if answer.status == 200 { #expect(try answer.objects().count == count) }
        }
    }

    @Test("a file has the eleven members of the dossier, ids as text, and nulls where nothing is known")
    func members() async throws {
        try await withSandbox { sandbox in
            let answer = try await SequencingSteps(sandbox).get("/DataSourceList?all=true")
            let files = try answer.objects()
            let names: Set = [
                "Id", "Name", "DateAdded", "Ext", "FileCategory", "FileType", "FileSubType", "FriendlyDesc1",
                "FriendlyDesc2", "Population", "Sex",
            ]
            #expect(files.allSatisfy { Set($0.keys) == names })
            #expect(files.first?["Id"] as? String == "910001")
            #expect(files.first?["Ext"] as? String == ".vcf.gz")
            #expect(files.contains { $0["FileCategory"] as? String == "Community" && $0["Sex"] is NSNull })
            #expect(files.contains { $0["FileCategory"] as? String == "Community" && $0["FriendlyDesc2"] is NSNull })
            #expect(files.filter { $0["Name"] as? String == "family.vcf.gz" }.count == 2)
            #expect(files.contains { $0["Name"] as? String == "error_invalid_exception.vcf" })
            #expect(
                files.contains { $0["Name"] as? String == "<img src=x onerror=alert(1)> & \"double\" 'single'.vcf" })
            #expect(files.contains { $0["FriendlyDesc1"] as? String == "Ramón & Søren" })
            #expect(Set(files.compactMap { $0["Id"] as? String }).count == files.count)
        }
    }

    @Test("one user has no files of their own, one has one, and one has five thousand, always the same")
    func users() async throws {
        try await withSandbox { sandbox in
            for (user, count) in [("charles", 0), ("grace", 1), ("herman", 5000), ("rosalind", 0)] {
                let steps = try await SequencingSteps(sandbox, as: "\(user)@example.test")
                let own = "/DataSourceList?uploaded=true&shared=true&fromApps=true&allWithAltruist=true"
                let first = try await steps.get(own)
                #expect(try first.objects().count == count)
                #expect(try await steps.get(own).body == first.body)
                let all = try await steps.get("/DataSourceList?all=true").objects()
                #expect(all.count == count + 10 + (user == "rosalind" ? 1 : 0))
            }
        }
    }

    @Test("a file of a category that no client knows is in the whole list, and behind no other flag")
    func unknownCategory() async throws {
        try await withSandbox { sandbox in
            let steps = try await SequencingSteps(sandbox, as: "rosalind@example.test")
            let files = try await steps.get("/DataSourceList?all=true").objects()
            #expect(files.last?["FileCategory"] as? String == "FromLaboratory")
            #expect(try await steps.result("Chain9", on: "229001") == ["RiskDescription": "Moderate"])
            let flags = "sample=true&uploaded=true&shared=true&fromApps=true&allWithAltruist=true"
            #expect(try await steps.get("/DataSourceList?" + flags).objects().count == 10)
        }
    }

    @Test("a download needs the file's GUID, and the token's scope")
    func download() async throws {
        try await withSandbox { sandbox in
            let steps = try await SequencingSteps(sandbox)
            let answer = try await steps.get("/File/Download?id=00000000-0000-4000-8000-000000227004")
            #expect(answer["Content-Type"] == "application/octet-stream")
            #expect(answer.text.hasPrefix("##fileformat=VCF"))
            let packed = try await steps.get("/File/Download?id=00000000-0000-4000-8000-000000227001")
            #expect(Array(packed.body.prefix(3)) == [0x1F, 0x8B, 8] && packed["Content-Encoding"] == nil)
            for id in ["227001", "00000000-0000-4000-8000-000000228001", ""] {
                #expect(try await steps.get("/File/Download?id=\(id)").refusal == "404 file_not_found")
            }
            let demo = try await SequencingSteps(sandbox, scope: "demo")
            let refused = try await demo.get("/File/Download?id=00000000-0000-4000-8000-000000227001")
            #expect(refused.refusal == "403 insufficient_scope")
        }
    }
}
