"""Links and routes: topologies, gravity traffic, backbones."""
