import Handshake
import OAuth
import Sequencing
import TestFixtures
import Testing

@Suite("Files")
struct FileListTests {
    /// The list of dossier 4.1.
    static let transcript = """
        [{"Id":"910001","Name":"sample-ada.vcf.gz","DateAdded":"2016-03-11T09:30:00","Ext":".vcf.gz",\
        "FileCategory":"Community","FileType":"VCF","FileSubType":"Genome","FriendlyDesc1":"Ada",\
        "FriendlyDesc2":"Enjoys long walks and longer proofs","Population":"European","Sex":"Female"},\
        {"Id":"227001","Name":"grace_exome.vcf.gz","DateAdded":"2017-01-20T18:02:11","Ext":".vcf.gz",\
        "FileCategory":"Uploaded","FileType":"VCF","FileSubType":null,"FriendlyDesc1":null,"FriendlyDesc2":null,\
        "Population":null,"Sex":null}]
        """

    private func list(_ text: String) throws -> [GeneticFile] {
        try FileList(try JSONValue(parsing: Array(text.utf8))).files
    }

    @Test("D01: one request lists everything, with the token in its header")
    func oneRequest() async throws {
        let service = ScriptedService(["GET /DataSourceList": [.json(Self.transcript)]])
        let files = try await service.genome().files()
        #expect(service.lines == ["GET /DataSourceList?all=true"])
        #expect(service.requests.first?.authorization == "Bearer 3f0c9a51d6b24e7788aa10c25e9f4b6d7a8c1e02")
        let ada = try #require(files.first)
        #expect(files.map(\.id.string) == ["910001", "227001"])
        #expect(ada.category == .community && ada.sex == .female && ada.fileExtension == ".vcf.gz")
        #expect(files[1].sex == nil && files[1].personaName == nil && files[1].subtype == nil)
    }

    @Test(
        "D02: subsets are flags that can be joined, and none at all is refused before anything is sent",
        arguments: [
            (FileSubset.sample, "sample=true"), ([.uploaded, .shared] as FileSubset, "uploaded=true&shared=true"),
            ([.uploaded, .shared, .fromApps] as FileSubset, "uploaded=true&shared=true&fromApps=true"),
            (FileSubset.altruist, "allWithAltruist=true"),
        ] as [(FileSubset, String)])
    func subsets(_ subset: FileSubset, _ query: String) async throws {
        let service = ScriptedService(["GET /DataSourceList": [.json("[]")]])
        let genome = try await service.genome()
        #expect(try await genome.files(subset).isEmpty)
        #expect(service.lines == ["GET /DataSourceList?\(query)"])
        #expect(await sequencingError { try await genome.files([]) }?.code == "invalid_input")
    }

    @Test(
        "E18: a file's identifier loses the prefix of version 1",
        arguments: [
            ("FILE:227001", "227001"), ("227001", "227001"), ("a:b:7", "7"),
        ])
    func prefix(_ text: String, _ expected: String) throws {
        #expect(FileID(text)?.string == expected)
        #expect(try list(#"[{"Id":"\#(text)","Name":"x","FileCategory":"Uploaded"}]"#).first?.id.string == expected)
    }

    @Test("an identifier that names nothing is none", arguments: ["", "FILE:", "a b", "\u{7}"])
    func noIdentifier(_ text: String) {
        #expect(FileID(text) == nil)
    }

    @Test("W28: numbers for texts, nulls, unknown words and members of other types are read")
    func tolerance() throws {
        let file = try #require(
            list(
                #"[{"Id":5,"Name":17,"FileCategory":"Martian","Sex":"Unspecified","Population":{"a":1},"DateAdded":null,"#
                    + #""FileType":[],"FriendlyDesc1":"","New":true}]"#
            ).first)
        #expect(file.id.string == "5" && file.name == "17")
        #expect(file.category == .other("Martian") && file.sex == .other("Unspecified"))
        #expect(file.population == nil && file.dateAdded == nil && file.type == nil && file.personaName == nil)
    }

    @Test(
        "W29: what is no list of files is an error that names the place, never an empty list",
        arguments: [
            (#"{"Files":[]}"#, "content"), ("null", "content"), (#""[]""#, "content"), ("[null]", "[0]"),
            ("[[]]", "[0]"),
            (#"[{"Name":"x","FileCategory":"Uploaded"}]"#, "[0].Id"),
            (#"[{"Id":{},"Name":"x","FileCategory":"Uploaded"}]"#, "[0].Id"), ("[1,{},null]", "[0]"),
        ])
    func malformed(_ text: String, _ member: String) async throws {
        let service = ScriptedService(["GET /DataSourceList": [.json(text)]])
        let genome = try await service.genome()
        guard case .malformed(_, member, _, _) = await sequencingError({ try await genome.files() }) else {
            Issue.record("not refused at \(member)")
            return
        }
    }

    @Test("W29, 9.5: an entry without an identifier hides no other, and is told with its place")
    func unreadableEntries() async throws {
        let text = #"[{"Id":"1","Name":"x","FileCategory":"Uploaded"},{"Id":{},"Name":"y"},{"Id":"3"}]"#
        let list = try await ScriptedService(["GET /DataSourceList": [.json(text)]]).genome().fileList()
        #expect(list.files.map(\.id.string) == ["1", "3"] && list.files.last?.name == "3")
        guard case .malformed("DataSourceList", "[1].Id", _, _)? = list.unreadable.first else {
            Issue.record("\(list.unreadable)")
            return
        }
    }

    @Test("W21: HTML, half an answer and nothing are errors", arguments: ["<html>no</html>", "[{\"Id\":", "", "[1],"])
    func notJSON(_ text: String) async throws {
        let genome = try await ScriptedService(["GET /DataSourceList": [.json(text)]]).genome()
        #expect(await sequencingError { try await genome.files() }?.code == "malformed_answer")
    }

    @Test("W21: a file called error_invalid_exception.vcf is a file like any other")
    func harmlessWords() async throws {
        let text = #"[{"Id":"1","Name":"error_invalid_exception.vcf","FileCategory":"Uploaded"}]"#
        let files = try await ScriptedService(["GET /DataSourceList": [.json(text)]]).genome().files()
        #expect(files.map(\.name) == ["error_invalid_exception.vcf"])
    }

    @Test("W21: the status comes first, even with a list behind it")
    func statusFirst() async throws {
        let genome = try await ScriptedService(["GET /DataSourceList": [.json("[]", status: 400)]]).genome()
        #expect(await sequencingError { try await genome.files() } == .service(status: 400, code: nil, message: nil))
    }

    @Test("W27: the service's own words are in the error, made harmless")
    func serviceWords() async throws {
        let body = #"{"Message":"Invalid\u001b[2J flag","Error":"bad_flag"}"#
        let genome = try await ScriptedService(["GET /DataSourceList": [.json(body, status: 400)]]).genome()
        let error = try #require(await sequencingError { try await genome.files() })
        #expect(error == .service(status: 400, code: "bad_flag", message: "Invalid\u{FFFD}[2J flag"))
        #expect(error.description == "Sequencing.com answered with status 400: “Invalid\u{FFFD}[2J flag”.")
    }

    @Test("9.4: a reading call is repeated twice after 502, 503, 504 or a lost connection, and no more")
    func repetitions() async throws {
        let clock = HurriedClock()
        let service = ScriptedService([
            "GET /DataSourceList": [.json("", status: 503), .lost, .json(Self.transcript)],
            "GET /v2/GetAppResults": [.json("", status: 502)],
        ])
        let genome = try await service.genome(clock: clock)
        #expect(try await genome.files().count == 2)
        #expect(service.lines.count == 3)
        #expect(clock.pauses == [.milliseconds(250), .milliseconds(500)])
        #expect(
            await sequencingError { try await genome.job(JobID(1)) } == .service(status: 502, code: nil, message: nil))
        #expect(service.lines.count == 6)
    }

    @Test(
        "D16: a sample is called by its persona, any other file by its name",
        arguments: [
            ("Community", #""A""#, #""b c""#, "A - b c"), ("Community", #""A""#, "null", "A"),
            ("Community", "null", #""b""#, "b"),
            ("Community", "null", "null", "n.vcf"), ("Uploaded", #""A""#, #""b""#, "n.vcf"),
        ])
    func displayName(_ category: String, _ first: String, _ second: String, _ expected: String) throws {
        let text =
            #"[{"Id":"1","Name":"n.vcf","FileCategory":"\#(category)","FriendlyDesc1":\#(first),"FriendlyDesc2":\#(second)}]"#
        #expect(try list(text).first?.displayName == expected)
    }

    @Test("D17: the details are all members, sorted without regard to case, null told apart")
    func details() throws {
        let file = try #require(
            list(#"[{"Name":"n","id":7,"Id":"1","FileCategory":"Uploaded","alpha":null,"Beta":{"x":1}}]"#).first)
        #expect(file.details.map(\.name) == ["alpha", "Beta", "FileCategory", "Id", "id", "Name"])
        #expect(file.details.map(\.value) == [nil, #"{"x":1}"#, "Uploaded", "1", "7", "n"])
    }

    @Test("W40: a file that was copied is there when it is new in the list")
    func newFiles() async throws {
        let one = #"{"Id":"1","Name":"a","FileCategory":"Uploaded"}"#
        let two = #"{"Id":"2","Name":"b","FileCategory":"Uploaded"}"#
        let service = ScriptedService([
            "GET /DataSourceList": [.json("[\(one)]"), .json("[\(one)]"), .json("[\(one),\(two)]")]
        ])
        let genome = try await service.genome()
        let known = try await Set(genome.files([.uploaded]).map(\.id))
        #expect(try await genome.newFiles(besides: known).map(\.id.string) == ["2"])
        let all = known.union([try #require(FileID("2"))])
        #expect(try await genome.newFiles(besides: all).isEmpty)
    }
}
