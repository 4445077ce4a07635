import Foundation

/// The kernel's queues of the connections with a port of this machine.
enum SocketQueues {
    /// Bytes that were sent from the port and that no process has read yet, on both sides (proc_net_tcp(5)).
    static func bytes(from port: Int) -> Int64 {
        let suffix = ":" + String(format: "%04X", port)
        var sum: Int64 = 0
        let table = (try? String(contentsOfFile: "/proc/net/tcp", encoding: .utf8)) ?? ""
        for line in table.split(separator: "\n").dropFirst() {
            // sl, local address, remote address, state, tx_queue:rx_queue, …
            let words = line.split(separator: " ")
            guard words.count > 4 else { continue }
            let queues = words[4].split(separator: ":").map { Int64($0, radix: 16) ?? 0 }
            guard queues.count == 2 else { continue }
            if words[1].hasSuffix(suffix) { sum += queues[0] }
            if words[2].hasSuffix(suffix) { sum += queues[1] }
        }
        return sum
    }
}
