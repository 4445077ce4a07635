import FerryCore
import Testing

@Suite("PlaceBelow")
struct PlaceBelowTests {
    @Test(
        "PlaceBelow: a place belongs to the first allowed directory that leads to it by plain names",
        arguments: [
            ("/a", "/a", []), ("/a/", "/a", []), ("/a/x", "/a", ["x"]), ("/a/x/y", "/a", ["x", "y"]),
            ("/a//x", "/a", ["x"]),
            // Behind a name that is hidden from the first, but allowed itself.
            ("/a/.x", "/a/.x", []), ("/a/.x/y", "/a/.x", ["y"]), ("/a/.x/y/z", "/a/.x", ["y", "z"]),
        ] as [(String, String, [Substring])])
    func below(place: String, root: String, names: [Substring]) throws {
        for allowed in [["/a", "/a/.x"], ["/a/.x", "/a"]] {
            let found = try #require(PlaceBelow.root(of: place, among: allowed))
            #expect(found.root == root && found.names == names, "\(allowed)")
        }
    }

    @Test(
        "PlaceBelow: a hidden name, a way up, and a neighbour belong to none",
        arguments: [
            "/a/.y/z", "/a/.y", "/a/.x/.y", "/a/.x/../y", "/a/..", "/a/x/../y", "/a/.", "/ab", "/a/.xy", "/", "/b",
            "/a/x\\y", "/a/x\0y",
        ])
    func outside(place: String) {
        #expect(PlaceBelow.root(of: place, among: ["/a", "/a/.x"]) == nil)
    }
}
