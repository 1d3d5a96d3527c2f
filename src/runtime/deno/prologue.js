// The beginning of the one module that all these files make up, in Deno.
import {Buffer} from 'node:buffer';
import {Console} from 'node:console';
import vm from 'node:vm';
import {inspect, types} from 'node:util';
