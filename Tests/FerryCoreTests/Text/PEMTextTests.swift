import FerryCore
import Testing

@Suite("PEM") struct PEMTextTests {
    private static func block(_ name: String, _ body: String) -> String {
        "-----BEGIN \(name)-----\n\(body)\n-----END \(name)-----\n"
    }

    @Test(
        "PEMText: a certificate is a complete Base64 block that begins as DER",
        arguments: [
            (block("CERTIFICATE", "MAMCAQE="), true), (block("X509 CERTIFICATE", "MAMC\nAQE="), true),
            (block("TRUSTED CERTIFICATE", "MAMCAQE="), true), ("words\r\n" + block("CERTIFICATE", "MAMCAQE="), true),
            (block("PRIVATE KEY", "MAMCAQE=") + block("CERTIFICATE", "MAMCAQE="), true),
            (block("CERTIFICATE", "????") + block("CERTIFICATE", "MAMCAQE="), true),
            ("", false), ("-----BEGIN CERTIFICATE-----\nMAMCAQE=", false), (block("CERTIFICATE", ""), false),
            (block("CERTIFICATE", "????"), false), (block("CERTIFICATE", "AAECAwQ="), false),
            (block("PRIVATE KEY", "MAMCAQE="), false), ("-----END CERTIFICATE-----", false),
        ])
    func certificate(text: String, holds: Bool) {
        #expect(PEMText.holdsCertificate(text) == holds)
        #expect(PEMText.holdsCertificate(text.replacing("\n", with: "\r\n")) == holds)
    }
}
