#if Sandbox
import SandboxCore

/// A PDF of one page with one line of text (ISO 32000-1, section 7.5).
enum SmallDocument {
    static func bytes(saying text: String) -> [UInt8] {
        let line = text.filter { $0 != "(" && $0 != ")" && $0 != "\\" && $0.isASCII }
        let drawing = "BT /F1 18 Tf 40 100 Td (\(line)) Tj ET"
        let objects = [
            "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 200] /Contents 4 0 R "
                + "/Resources << /Font << /F1 5 0 R >> >> >>",
            "<< /Length \(drawing.utf8.count) >>\nstream\n\(drawing)\nendstream",
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        ]
        var document = "%PDF-1.4\n"
        var offsets = ""
        for (index, object) in objects.enumerated() {
            let digits = String(document.utf8.count)
            offsets += String(repeating: "0", count: 10 - digits.count) + digits + " 00000 n \n"
            document += "\(index + 1) 0 obj\n\(object)\nendobj\n"
        }
        let start = document.utf8.count
        document += "xref\n0 \(objects.count + 1)\n0000000000 65535 f \n\(offsets)"
        document += "trailer\n<< /Size \(objects.count + 1) /Root 1 0 R >>\nstartxref\n\(start)\n%%EOF\n"
        return Array(document.utf8)
    }
}
#endif
