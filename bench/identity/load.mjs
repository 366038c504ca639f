/** The load of the bridge's benchmark, which says when it is ready. */
import '../bridge/load.mjs';

process.send({ isReady: true });
