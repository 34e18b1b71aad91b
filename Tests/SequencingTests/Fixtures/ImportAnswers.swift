/// What the service answers to imports from 23andMe.
enum ImportAnswers {
    static let question = #"{"StatusCode":2,"SecurityQuestion":"First pet?","SessionId":"s-91"}"#
    static let started = #"{"StatusCode":0,"SecurityQuestion":null,"SessionId":null}"#
    /// Where the answer to a question goes.
    static let path = "POST /23andMe/DownloadWithSecurity"
    /// A list with an import's file, which has the number 7.
    static let file = files(7, named: "23andme_ada.txt")

    /// A list of imports' files with these numbers.
    static func files(_ numbers: Int..., named name: String = "23andme.txt") -> String {
        let files = numbers.map {
            #"{"Id":"\#($0)","Name":"\#(name)","FileCategory":"Uploaded","FileType":"23andMe"}"#
        }
        return "[\(files.joined(separator: ","))]"
    }
}
